import PatchDelta
import PatchFetch
import PatchFormat
import PatchCrypto
import PatchTrust

/// Downloads all metadata of a refresh in one answer if a server offers it. The rules of verification are the same.
extension SyncEngine {
    /// The result of asking a server for its express answer.
    struct ExpressPass {
        /// Answers from the express answer first, then from the server, or nil if the answer was not usable.
        var fetcher: PrefilledFetcher?
        /// Saved once the server's offer was accepted, so that a failed sync changes no record.
        var record: ExpressRecord?
    }

    /// - Throws: An error if the server is unreachable.
    func express(from source: Source, at time: UTCTime) async throws(SyncError) -> ExpressPass {
        let channel = configuration.channel
        guard express, sources.hasExpress(source), let server = ServerURL(source.name) else { return ExpressPass() }
        var record = store.expressRecord(of: channel)
        guard !record.isPaused(server, at: time) else { return ExpressPass() }
        let held = try HeldMetadata(in: store, of: channel)
        let last = held.timestamp.flatMap { record.answers[server]?.unchanged(since: $0) }
        var request = FetchRequest(URLLayout.express(channel), limit: Limits.express, deadline: deadlines.document)
        let takesDifference = ExpressDifference.isPossible(from: held.parts)
        let known = Express.Known(held.parts.map(\.file), takesDifference: takesDifference)
        (request.query, request.unless) = (known.query, last?.tag)
        do throws(SyncError) {
            let answer: NamedDocument
            do throws(FetchError) { answer = try await source.fetcher.named(request) } catch { throw .fetch(error) }
            if answer.isUnchanged, let last {
                let prefill = Prefill(held, newestRoot: last.newestRoot)
                return ExpressPass(fetcher: PrefilledFetcher(prefill, before: source.fetcher))
            }
            let express: Express
            do throws(FormatError) {
                let bytes = answer.document.bytes
                let isDifference = takesDifference && ExpressDifference.isDifference(bytes)
                express = try Express(
                    isDifference ? try ExpressDifference.plain(bytes, from: held.parts) : bytes,
                    of: channel
                )
            } catch { throw .format(error) }
            record.set(ExpressRecord.Answer(express, named: answer.validator), of: server, among: servers)
            return ExpressPass(
                fetcher: PrefilledFetcher(Prefill(express), before: source.fetcher),
                record: record
            )
        } catch {
            if error.isOwn || error.isUnreachable { throw error }
            sources.giveUpExpress(of: source)
            if error != .fetch(.notFound(request.path)) {
                report(.expressIgnored(server: source.name, because: error))
            }
            guard error.isLasting else { return ExpressPass() }
            record.set(.absent(until: time.adding(ExpressRecord.pause)), of: server, among: servers)
            return ExpressPass(record: record)
        }
    }

    private var servers: [ServerURL] { [configuration.server] + configuration.access.mirrors }
}

/// The metadata of a channel that a device has stored, as far as its snapshot lists it.
struct HeldMetadata {
    let timestamp: [UInt8]?
    /// The files in the order of dependence: a server finds roles by their snapshot, and targets by their roles.
    let parts: [Express.Part]

    init(in store: DeviceStore, of channel: ChannelName) throws(SyncError) {
        let trust = store.trust
        timestamp = try trust.metadata("timestamp")
        var parts: [Express.Part] = []
        if let bytes = try trust.metadata("root"),
            let root = try? RootRole(Envelope(bytes, role: "root", limit: Limits.root))
        {
            parts.append(Express.Part(.root(version: root.header.version), bytes))
        }
        if let bytes = try trust.metadata("snapshot"),
            let snapshot = try? SnapshotRole(Envelope(bytes, role: "snapshot", limit: Limits.snapshot))
        {
            parts.append(Express.Part(.role("snapshot", version: snapshot.header.version), bytes))
            for role in ["targets", channel.text, "dial"] {
                // A role that was saved before the snapshot may be another version.
                guard let file = snapshot.files[ExactString(role)], let bytes = try trust.metadata(role),
                    file.matches(bytes)
                else { continue }
                parts.append(Express.Part(.role(role, version: file.version), bytes))
            }
        }
        for (path, bytes) in [
            (TargetPath.patchList(channel), try store.patchList(of: channel)),
            (.dial(channel), try store.dial(of: channel)), (.parameters(channel), try store.parameters(of: channel)),
        ] {
            if let bytes { parts.append(Express.Part(.target(path, SHA256Digest(of: bytes)), bytes)) }
        }
        self.parts = parts
    }
}

extension Prefill {
    fileprivate init(_ express: Express) {
        let files = express.parts.map { ($0.file.path, $0.bytes) }
        self.init(Dictionary(files) { first, _ in first }, newestRoot: express.newestRoot)
    }

    fileprivate init(_ held: HeldMetadata, newestRoot: Int) {
        self.init(held.timestamp.map { [URLLayout.timestamp: $0] } ?? [:], newestRoot: newestRoot)
    }

    private init(_ files: [String: [UInt8]], newestRoot: Int) {
        self.init(files, missing: URLLayout.metadata("root", version: newestRoot + 1))
    }
}

extension ExpressRecord.Answer {
    /// Returns nil for an answer without a tag or without a timestamp, because a later request could not refer to it.
    fileprivate init?(_ express: Express, named tag: String?) {
        guard let tag, let timestamp = express.parts.first(where: { $0.file == .timestamp }) else { return nil }
        self = .last(tag: tag, newestRoot: express.newestRoot, timestamp: SHA256Digest(of: timestamp.bytes))
    }

    /// The tag of the answer that contained the timestamp, which is the newest known one.
    fileprivate func unchanged(since timestamp: [UInt8]) -> (tag: String, newestRoot: Int)? {
        guard case .last(let tag, let root, let digest) = self, digest == SHA256Digest(of: timestamp) else {
            return nil
        }
        return (tag, root)
    }
}

extension SyncError {
    /// Whether the server is unreachable, so that other requests would take as long and fail in the same way.
    fileprivate var isUnreachable: Bool {
        switch self {
        case .fetch(.connection), .fetch(.noAddress), .fetch(.tls), .fetch(.busy), .fetch(.intercepted): true
        default: false
        }
    }

    /// Whether the next sync would fail in the same way: the server has no express answer, or an unreadable one.
    fileprivate var isLasting: Bool {
        switch self {
        case .fetch(.notFound), .fetch(.webPage), .fetch(.redirected), .fetch(.tooLarge), .fetch(.encoded), .format:
            true
        default: false
        }
    }
}
