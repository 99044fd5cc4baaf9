import HTTPCore
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PatchCompression
import PatchCrypto
import PatchDelta
import PatchFormat
import PatchStore
import PatchTrust
import SystemPackage

/// The express answers of a published tree.
///
/// Each is made when it is first requested after a change, and is cached until the next. Devices with the same version send the
/// same request, so there are few answers.
final class ExpressAnswers: Sendable {
    private struct Name: Hashable {
        let app: AppID
        let channel: ChannelName
    }

    private enum Form: Hashable {
        /// Nil for the plain bytes.
        case whole(CompressionFormat?)
        case difference(Express.Known)
    }

    /// The missing files of one device, in one form.
    private struct Selection: Hashable {
        let root: Int?
        let left: [Express.File]
        let form: Form
    }

    private struct Remembered {
        /// The origin of the timestamp, which every publish replaces.
        let origin: FileOrigin
        /// The path of the next root, which may be written after the timestamp.
        let nextRoot: FilePath
        let contents: ExpressContents
        var answers: [Selection: ServedBytes] = [:]

        var isCurrent: Bool { origin.isCurrent && FileOrigin(at: nextRoot.string) == nil }

        func selection(for known: Express.Known, _ form: Form) -> Selection {
            Selection(
                root: known.root.map { min($0, contents.newestRoot) },
                left: contents.files.filter(known.has),
                form: form
            )
        }
    }

    private struct State {
        var remembered: [Name: Remembered] = [:]
        var bytes = 0
        var room: DifferenceBudget
    }

    /// The root folder; one subfolder per app.
    private let tree: FilePath
    /// The limit of the cache in bytes; if exceeded, the cache is emptied.
    private let limit: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: NIOLockedValueBox<State>

    init(
        tree: FilePath,
        limit: Int = 32 << 20,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.tree, self.limit, self.now) = (tree, limit, now)
        state = NIOLockedValueBox(State(room: DifferenceBudget(at: now())))
    }

    /// The cached answer, or nil if there is none or the tree has changed.
    func known(_ app: AppID, _ channel: ChannelName, _ known: Express.Known, as format: CompressionFormat?)
        -> ServedBytes?
    {
        let name = Name(app: app, channel: channel)
        guard let found = state.withLockedValue({ $0.remembered[name] }), found.isCurrent else { return nil }
        return found.answers[found.selection(for: known, known.takesDifference ? .difference(known) : .whole(format))]
    }

    /// Makes the answer, or returns nil for a channel without a release.
    func make(_ app: AppID, _ channel: ChannelName, _ known: Express.Known, as format: CompressionFormat?)
        throws(ServerError) -> ServedBytes?
    {
        let name = Name(app: app, channel: channel)
        let folder = tree.at(app.text)
        let read: ExpressContents.Reading = { file, limit throws(ServerError) in
            do throws(FileError) {
                return try DiskFiles().read(folder.at(TreePath(app, file).path), limit: limit)
            } catch { throw .file(error) }
        }
        guard let found = try current(name, folder, read) else { return nil }
        if known.takesDifference {
            let selection = found.selection(for: known, .difference(known))
            if let answer = found.answers[selection] { return answer }
            if let answer = try difference(known, found.contents, read) {
                remember(answer, selection, name, found)
                return answer
            }
        }
        let selection = found.selection(for: known, .whole(format))
        if let answer = found.answers[selection] { return answer }
        let answer = Self.answer(
            try found.contents.express(for: known, read: read),
            found.contents.timestamp,
            format
        )
        remember(answer, selection, name, found)
        return answer
    }

    private func remember(_ answer: ServedBytes, _ selection: Selection, _ name: Name, _ found: Remembered) {
        state.withLockedValue { state in
            if state.bytes + Self.cost(of: answer) > limit { (state.remembered, state.bytes) = ([:], 0) }
            if let known = state.remembered[name], (known.origin, known.nextRoot) == (found.origin, found.nextRoot) {
                if known.answers[selection] != nil { return }
            } else {
                state.bytes -= state.remembered[name]?.answers.values.reduce(0) { $0 + Self.cost(of: $1) } ?? 0
                var new = found
                new.answers = [:]
                state.remembered[name] = new
            }
            state.bytes += Self.cost(of: answer)
            state.remembered[name]?.answers[selection] = answer
        }
    }

    /// The size of an answer in the cache, with its key: the names in a query.
    private static func cost(of answer: ServedBytes) -> Int { answer.bytes.count + 2_048 }

    /// The difference, or nil if too many are being made or a named file does not exist.
    private func difference(
        _ known: Express.Known,
        _ contents: ExpressContents,
        _ read: ExpressContents.Reading
    ) throws(ServerError) -> ServedBytes? {
        guard state.withLockedValue({ $0.room.begin(at: now()) }) else { return nil }
        var spent = 0
        defer { state.withLockedValue { [spent] in $0.room.end(spending: spent) } }
        let base = ExpressBase.parts(
            named: known,
            of: contents.channel,
            newestRoot: contents.newestRoot,
            limit: ExpressDifference.mostMade,
            read: read
        )
        guard let base else { return nil }
        let express = try contents.express(for: known, read: read)
        spent = (base + express.parts).reduce(0) { $0 + $1.bytes.count }
        guard let body = ExpressDifference.body(of: express, from: base) else { return nil }
        return Self.answer(body, Self.tag(express, contents.timestamp) + ".diff", isNegotiated: false)
    }

    /// The cache for the current timestamp; a concurrent publish is noticed.
    private func current(_ name: Name, _ folder: FilePath, _ read: ExpressContents.Reading) throws(ServerError)
        -> Remembered?
    {
        if let known = state.withLockedValue({ $0.remembered[name] }), known.isCurrent { return known }
        var tries = 3
        while true {
            guard let origin = FileOrigin(at: folder.at(URLLayout.timestamp).string) else { return nil }
            let roots: [Int]
            do throws(FileError) {
                roots = try DiskFiles().list(folder.at("metadata")).compactMap { name in
                    if case .root(let version) = TreePath.role(named: name) { version } else { nil }
                }
            } catch { throw .file(error) }
            let newest = roots.max() ?? 1
            let contents = try ExpressContents(of: name.channel, app: name.app, newestRoot: newest, read: read)
            guard let contents else { return nil }
            let found = Remembered(
                origin: origin,
                nextRoot: folder.at(URLLayout.metadata("root", version: newest + 1)),
                contents: contents
            )
            tries -= 1
            if found.isCurrent || tries == 0 { return found }
        }
    }

    private static func answer(
        _ express: Express,
        _ timestamp: [UInt8],
        _ format: CompressionFormat?
    ) -> ServedBytes {
        let plain = express.fileBytes
        let effort: Compressor.Effort = plain.count > 262_144 ? .quick : .most
        let form = format.flatMap { try? $0.compressed(plain, effort: effort) }
        let tag = tag(express, timestamp)
        guard let format, let form else { return answer(plain, tag) }
        return answer(form, tag + format.suffix, format)
    }

    /// - Parameter isNegotiated: whether it has other forms; a difference is requested by the query.
    private static func answer(
        _ bytes: [UInt8],
        _ tag: String,
        _ coding: CompressionFormat? = nil,
        isNegotiated: Bool = true
    ) -> ServedBytes {
        var headers: HTTPHeaders = ["X-Content-Type-Options": "nosniff"]
        if isNegotiated { headers.add(name: "Vary", value: "Accept-Encoding") }
        if let coding { headers.add(name: "Content-Encoding", value: coding.rawValue) }
        return ServedBytes(
            bytes: bytes,
            entityTag: tag,
            contentType: ContentType.unknown,
            cacheControl: "public, max-age=60",
            headers: headers
        )
    }

    /// The timestamp's digest and the newest root's version, regardless of omitted files: the files that a device knows do not
    /// affect whether there is a newer state.
    private static func tag(_ express: Express, _ timestamp: [UInt8]) -> String {
        "\(SHA256Digest(of: timestamp).hex.prefix(32)).\(express.newestRoot)"
    }
}

/// Limits the work on differences: a request with a new combination of files makes the server compute one.
struct DifferenceBudget {
    /// Bytes of files that are read and compressed per second, and the initial budget.
    private static let (rate, most) = (1_048_576, 8_388_608)
    private static let atOnce = 2
    /// The minimum cost of an attempt: a failed one has read files too.
    static let least = 65_536

    private var left = most
    private var filled: ContinuousClock.Instant
    private var running = 0

    init(at now: ContinuousClock.Instant) { filled = now }

    /// Whether another difference may be made now.
    ///
    /// If so, the caller must call ``end(spending:)``.
    mutating func begin(at now: ContinuousClock.Instant) -> Bool {
        let (seconds, fraction) = (now - filled).components
        let more = Int(min(seconds, 60)) * Self.rate + Int(fraction / 1_000_000_000) * Self.rate / 1_000_000_000
        if more > 0 { (left, filled) = (min(Self.most, left + more), now) }
        guard running < Self.atOnce, left > 0 else { return false }
        running += 1
        return true
    }

    mutating func end(spending bytes: Int) {
        running -= 1
        left -= max(bytes, Self.least)
    }
}
