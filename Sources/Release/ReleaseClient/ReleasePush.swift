import Linux
import NIOConcurrencyHelpers
import NIOHTTP1
import PatchFetch
package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import ReleaseFolder

/// Uploads the missing parts of a signed release, and has it published.
///
/// ```
/// begin ─▶ packs from what the server has ─▶ needs ─▶ send the parts ─▶ needs more? (lists and manifests name it) ─▶ publish
/// ```
///
/// An upload is named by its release's content, so pushing the same release again continues it.
package struct ReleasePush: Sendable {
    package enum Event: Equatable, Sendable {
        /// The parts that the server wants now, and their bytes.
        case began(parts: Int, bytes: Int)
        /// Bytes handed to the network; negative when some must be sent again.
        case sent(bytes: Int)
        case ended
        /// Not all was taken; an error follows.
        case failed
        /// A pack was not taken, and why: its parts are sent.
        case packFailed(String)
        case publishing
    }

    /// Before a larger part is sent, the server is asked how much of it is there.
    private static let worthAsking = 262_144
    /// A target leads to objects, and objects lead nowhere; a further need means that the server lost something.
    private static let rounds = 8
    /// A server verifies everything again before it publishes.
    private static let publishDeadline = Duration.seconds(1_800)

    let client: ServiceClient
    let release: SignedRelease
    /// The release before it, or another of which the server has something.
    let base: SignedRelease?
    /// Bytes of the largest pack that is sent.
    let packLimit: Int
    let files: any FileOperations
    let observe: @Sendable (Event) -> Void
    /// Bytes of parts as they were handed to the network, also in vain.
    let travelled = NIOLockedValueBox(0)
    /// Lists, manifests and columns by their digest.
    fileprivate let documents: [SHA256Digest: [UInt8]]

    /// The largest pack to send by default: an interrupted one is sent again from its beginning.
    package static let smallPack = 4_000_000

    /// - Parameter packLimit: Bytes; larger packs are sent as parts. Nil for the largest that a server takes.
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
    ///   - notes: label, notes, author and commit, as the service takes them.
    ///   - rollout: How the versions that it lists newly begin; nil leaves that to the channel's default.
    /// - Throws: `noRollout`, before anything is sent, if the server cannot do that.
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
                // A part that the server had is gone: it lists its needs again.
                rounds += 1
                state = try await show(state.id)
            } catch .problem(let problem) where problem.status == 404 && rounds < Self.rounds {
                // The upload was finished or given up meanwhile: the server knows what remains to be done.
                rounds += 1
                state = try await begin()
            }
        }
    }

    private func begin() async throws(ServiceError) -> UploadState {
        // The server has a part that is left out, or asks for it.
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

    /// - Returns: how many of its bytes were sent now.
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

/// One part on its way.
private struct PartSender: Sendable {
    private let need: UploadState.Need
    private let path: String
    private let push: ReleasePush
    private let source: PartBody.Source
    private let coding: CompressionFormat?

    /// Fewer bytes are not worth it.
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

    /// - Parameter asking: whether to ask first how much of it is there.
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
                // An earlier push, or a broken connection, left some of it there.
                failures += 1
                forget(handed)
                (offset, isKnown) = (min(need.size, problem.offset ?? 0), true)
            } catch .problem(let problem) where problem.status == 404 {
                // It is there already, or the upload is gone: the next look at the upload tells which.
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

    /// How many bytes are there; nil when none is wanted any more.
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
