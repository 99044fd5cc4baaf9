import Linux
import NIOConcurrencyHelpers
import NIOHTTP1
import PatchFetch
package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import ReleaseFolder

/// Uploads the missing parts of a signed release, and requests its publication.
///
/// ```
/// begin ─▶ packs from the server's versions ─▶ needs ─▶ send the parts ─▶ needs more? (lists and manifests name it) ─▶ publish
/// ```
///
/// An upload is identified by its release's content, so pushing the same release again resumes it.
package struct ReleasePush: Sendable {
    package enum Event: Equatable, Sendable {
        /// The number and size of the parts that the server needs now.
        case began(parts: Int, bytes: Int)
        /// Bytes handed to the network; negative if some must be sent again.
        case sent(bytes: Int)
        case ended
        /// The server did not accept everything; an error follows.
        case failed
        /// The reason why the server rejected a pack. Its parts are sent.
        case packFailed(String)
        case publishing
    }

    /// For parts above this size, the server is first asked for the number of bytes it has.
    private static let worthAsking = 262_144
    /// A target leads to objects, and objects lead to nothing.
    ///
    /// A further need means that the server has lost something.
    private static let rounds = 8
    /// A server verifies everything again before it publishes.
    private static let publishDeadline = Duration.seconds(1_800)

    let client: ServiceClient
    let release: SignedRelease
    /// The previous release, or another one that the server partly has.
    let base: SignedRelease?
    /// The maximum size of a pack to send, in bytes.
    let packLimit: Int
    let files: any FileOperations
    let observe: @Sendable (Event) -> Void
    /// The bytes of parts handed to the network, including failed transfers.
    let travelled = NIOLockedValueBox(0)
    /// Lists, manifests and columns by their digest.
    fileprivate let documents: [SHA256Digest: [UInt8]]

    /// The default maximum size of a pack.
    ///
    /// An interrupted pack is sent again from the beginning.
    package static let smallPack = 4_000_000

    /// - Parameter packLimit: The maximum size of a pack in bytes; larger ones are sent as parts. Nil for the maximum of the
    ///   server.
    package init(
        _ release: SignedRelease,
        from base: SignedRelease? = nil,
        packLimit: Int? = nil,
        to client: ServiceClient,
        files: any FileOperations,
        observe: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.client = client
        self.release = release
        self.base = base
        self.packLimit = packLimit ?? PushPack.limit
        self.files = files
        self.observe = observe
        documents = Dictionary(release.targets.values.map { (SHA256Digest(of: $0), $0) }) { first, _ in first }
    }

    private var app: AppID { release.header.app }

    /// - Parameters:
    ///   - notes: Label, notes, author and commit, in the service's format.
    ///   - rollout: The initial rollout of newly listed versions; nil for the channel's default.
    /// - Throws: `noRollout`, before anything is sent, if the server does not support it.
    package func run(notes: JSON, starting rollout: StartingRollout? = nil) async throws(ServiceError) -> PushReport {
        var sent = PushReport.Sent()
        let begun = try await begin()
        guard rollout == nil || begun.takesRollout else { throw .noRollout }
        var state = try await sendPacks(begun, counting: &sent)
        let notes = rollout.map { JSON.object((notes.object ?? JSONObject()).setting("rollout", $0.json)) } ?? notes
        var rounds = 0
        while true {
            do throws(ServiceError) {
                while !state.needs.isEmpty {
                    rounds += 1
                    guard rounds <= Self.rounds else { throw .endless }
                    try await send(state, counting: &sent)
                    state = try await show(state.id)
                }
                observe(.publishing)
                return try await publish(state.id, notes, sent)
            } catch .problem(let problem) where problem.kind == "incomplete" && rounds < Self.rounds {
                // The server lost a part. It lists its needs again.
                rounds += 1
                state = try await show(state.id)
            } catch .problem(let problem) where problem.status == 404 && rounds < Self.rounds {
                // The upload was finished or abandoned meanwhile. The server knows the remaining work.
                rounds += 1
                state = try await begin()
            }
        }
    }

    private func begin() async throws(ServiceError) -> UploadState {
        // The server has the omitted parts, or asks for them.
        let header = release.header.whole
        let body = JSON.fields([("release", header.json), ("role", release.role.json)])
        return try UploadState(try await client.json(.service(.POST, app, "/uploads", body: .json(body))))
    }

    func show(_ id: String) async throws(ServiceError) -> UploadState {
        try UploadState(try await client.json(.service(.GET, app, "/uploads/\(id)")))
    }

    private func publish(_ id: String, _ notes: JSON, _ sent: PushReport.Sent) async throws(ServiceError)
        -> PushReport
    {
        var request = ServiceRequest.service(.POST, app, "/uploads/\(id)/publish", body: .json(notes))
        request.deadline = Self.publishDeadline
        let answer = try await client.json(request)
        var sent = sent
        sent.travelled = travelled.withLockedValue(\.self)
        do throws(FormatError) { return try PushReport(answer, sent) } catch { throw .malformed(error) }
    }

    func send(_ state: UploadState, counting sent: inout PushReport.Sent) async throws(ServiceError) {
        observe(.began(parts: state.needs.count, bytes: state.needs.reduce(0) { $0 + $1.size }))
        var left = state.needs.makeIterator()
        let result = await withTaskGroup(of: Result<Int, ServiceError>.self) { group in
            func startNext() {
                guard let need = left.next() else { return }
                group.addTask {
                    do throws(ServiceError) { return .success(try await send(need, of: state)) } catch {
                        return .failure(error)
                    }
                }
            }
            for _ in 0..<ServiceClient.connections { startNext() }
            var total = PushReport.Sent()
            while let next = await group.next() {
                switch next {
                case .success(let bytes):
                    total.parts += 1
                    total.bytes += bytes
                    startNext()
                case .failure(let error):
                    group.cancelAll()
                    return Result<PushReport.Sent, ServiceError>.failure(error)
                }
            }
            return .success(total)
        }
        let total: PushReport.Sent
        do throws(ServiceError) { total = try result.get() } catch {
            observe(.failed)
            throw error
        }
        observe(.ended)
        sent.parts += total.parts
        sent.bytes += total.bytes
    }

    /// - Returns: the number of bytes sent now.
    private func send(_ need: UploadState.Need, of state: UploadState) async throws(ServiceError) -> Int {
        let part = try PartSender(need, state, of: self)
        return try await part.run(asking: need.size > Self.worthAsking)
    }
}

extension JSONObject {
    fileprivate func setting(_ key: String, _ value: JSON) -> JSONObject {
        var object = self
        object[key] = value
        return object
    }
}

/// Sends one part.
private struct PartSender: Sendable {
    private let need: UploadState.Need
    private let path: String
    private let push: ReleasePush
    private let source: PartBody.Source
    private let coding: CompressionFormat?

    /// Smaller parts are not compressed.
    private static let leastCompressed = 256

    init(_ need: UploadState.Need, _ upload: UploadState, of push: ReleasePush) throws(ServiceError) {
        self.need = need
        (self.push, coding) = (push, upload.coding)
        path = "/uploads/\(upload.id)/parts/\(need.sha256.hex)"
        if let file = push.release.objects[need.sha256] {
            source = .file(file)
            let size: Int?
            do throws(FileError) { size = try push.files.status(of: file)?.identity.size } catch { throw .file(error) }
            guard size == need.size else { throw .changed(need.name) }
        } else if let bytes = push.documents[need.sha256] {
            source = .bytes(bytes)
        } else {
            throw .lacking(need.name)
        }
    }

    /// - Parameter asking: Whether to ask first for the number of bytes that the server has.
    func run(asking: Bool) async throws(ServiceError) -> Int {
        var offset = 0
        if asking {
            guard let there = try await self.offset() else { return 0 }
            offset = there
        }
        var (sent, failures, isKnown) = (0, 0, asking)
        while true {
            let handed = NIOLockedValueBox(0)
            do throws(ServiceError) {
                let next = try await patch(from: offset, handed)
                sent += max(0, next - offset)
                guard next < need.size else { return sent }
                throw .connection(AnswerRule.took(next, of: need.size, need.name))
            } catch .problem(let problem) where problem.kind == "wrongOffset" && failures < 3 {
                // An earlier push, or a broken connection, has sent some of these bytes.
                failures += 1
                forget(handed)
                (offset, isKnown) = (min(need.size, problem.offset ?? 0), true)
            } catch .problem(let problem) where problem.status == 404 {
                // The server has the part, or the upload is gone. The next request for the upload shows which.
                return sent
            } catch {
                failures += 1
                forget(handed)
                try await push.client.rest(after: error, failures: failures)
                guard let there = try await self.offset() else { return sent }
                if there > offset { failures = 0 }
                // If the server was not asked before, an earlier push may have sent these bytes.
                if isKnown { sent += max(0, there - offset) }
                (offset, isKnown) = (there, true)
            }
        }
    }

    private func forget(_ handed: NIOLockedValueBox<Int>) {
        push.observe(.sent(bytes: -handed.withLockedValue { $0 }))
    }

    /// The number of bytes that the server has; nil if it no longer needs the part.
    private func offset() async throws(ServiceError) -> Int? {
        do throws(ServiceError) {
            let answer = try await push.client.json(.service(.GET, push.release.header.app, path))
            do throws(FormatError) { return try answer.integer("offset", in: 0...need.size) } catch {
                throw .malformed(error)
            }
        } catch .problem(let problem) where problem.status == 404 { return nil }
    }

    private func patch(from offset: Int, _ handed: NIOLockedValueBox<Int>) async throws(ServiceError) -> Int {
        let observe = push.observe
        let body = PartBody(
            name: need.name,
            source: source,
            size: need.size,
            offset: offset,
            coding: need.size - offset >= Self.leastCompressed ? coding : nil,
            files: push.files,
            observe: { [travelled = push.travelled] count, bytes in
                travelled.withLockedValue { $0 += bytes }
                handed.withLockedValue { $0 += count }
                observe(.sent(bytes: count))
            }
        )
        var request = ServiceRequest.service(.PATCH, push.release.header.app, path, body: .part(body))
        request.headers = [("upload-offset", "\(offset)")]
        request.deadline = max(.seconds(120), .seconds(body.rest / 10_000))
        let answer = try await push.client.jsonOnce(request)
        do throws(FormatError) { return try answer.integer("offset", in: 0...need.size) } catch {
            throw .malformed(error)
        }
    }
}
