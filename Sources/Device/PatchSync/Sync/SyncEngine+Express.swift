import PatchDelta
import PatchFetch
import PatchFormat
import PatchCrypto
import PatchTrust

/// All metadata of a refresh in one answer, where a server has one: transport, and not a second set of rules.
extension SyncEngine {
    /// What came of asking a server for its express answer.
    struct ExpressPass {
        /// Before the server's own stands what the answer holds; nil where it is of no use.
        var fetcher: PrefilledFetcher?
        /// To be saved once the server's offer was taken: a sync that fails leaves everything as it was.
        var record: ExpressRecord?
    }

    /// - Throws: where there is no way to the server.
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
                let isDifference = takesDifference && ExpressDifference.isOne(bytes)
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
            if error.isOwn || error.saysThereIsNoWay { throw error }
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

/// What a device has of a channel's metadata, as far as its snapshot tells.
struct HeldMetadata {
    let timestamp: [UInt8]?
    /// In the order in which they are named: a server finds roles by their snapshot, and targets by their roles.
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
                // One that was saved before the snapshot is another.
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
    /// Nil for one that its server does not name, or without a timestamp: it cannot be asked for again.
    fileprivate init?(_ express: Express, named tag: String?) {
        guard let tag, let timestamp = express.parts.first(where: { $0.file == .timestamp }) else { return nil }
        self = .last(tag: tag, newestRoot: express.newestRoot, timestamp: SHA256Digest(of: timestamp.bytes))
    }

    /// The server's name for the answer that held the timestamp, which is the newest that is known.
    fileprivate func unchanged(since timestamp: [UInt8]) -> (tag: String, newestRoot: Int)? {
        guard case .last(let tag, let root, let digest) = self, digest == SHA256Digest(of: timestamp) else {
            return nil
        }
        return (tag, root)
    }
}

extension SyncError {
    /// To ask for something else would take as long, and fail the same way.
    fileprivate var saysThereIsNoWay: Bool {
        switch self {
        case .fetch(.connection), .fetch(.noAddress), .fetch(.tls), .fetch(.busy), .fetch(.intercepted): true
        default: false
        }
    }

    /// It will be the same at the next sync: the server has none, or one that nobody can read.
    fileprivate var isLasting: Bool {
        switch self {
        case .fetch(.notFound), .fetch(.webPage), .fetch(.redirected), .fetch(.tooLarge), .fetch(.encoded), .format:
            true
        default: false
        }
    }
}
