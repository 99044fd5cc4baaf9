import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PatchCompression
import PatchFormat
import PatchStore
import PatchTrust
import ReleaseTree
import SystemPackage

/// The express answers of a published tree, each made when it is first asked for after a change, and remembered until the next.
///
/// Devices that come from the same version ask for the same: there are few of them.
final class ExpressAnswers: Sendable {
    private struct Name: Hashable {
        let app: AppID
        let channel: ChannelName
    }

    /// What one device lacks, in one form.
    private struct Selection: Hashable {
        let root: Int?
        let left: [Express.File]
        /// Nil for the plain bytes.
        let format: CompressionFormat?
    }

    private struct Remembered {
        /// The timestamp's; every publish writes another.
        let origin: FileOrigin
        /// Where the next root will be: it may come after the timestamp.
        let nextRoot: FilePath
        let contents: ExpressContents
        var answers: [Selection: ServedBytes] = [:]

        var isCurrent: Bool { origin.isCurrent && FileOrigin(at: nextRoot.string) == nil }

        func selection(for known: Express.Known, _ format: CompressionFormat?) -> Selection {
            Selection(
                root: known.root.map { min($0, contents.newestRoot) },
                left: contents.files.filter(known.has),
                format: format
            )
        }
    }

    private struct State {
        var remembered: [Name: Remembered] = [:]
        var bytes = 0
    }

    /// The folder that holds one folder an app.
    private let tree: FilePath
    /// In bytes, of all of them; what would be more begins anew.
    private let limit: Int
    private let state = NIOLockedValueBox(State())

    init(tree: FilePath, limit: Int = 32 << 20) {
        (self.tree, self.limit) = (tree, limit)
    }

    /// Nil for what is not remembered, or was changed since.
    func known(_ app: AppID, _ channel: ChannelName, _ known: Express.Known, as format: CompressionFormat?)
        -> ServedBytes?
    {
        let name = Name(app: app, channel: channel)
        guard let found = state.withLockedValue({ $0.remembered[name] }), found.isCurrent else { return nil }
        return found.answers[found.selection(for: known, format)]
    }

    /// Nil for a channel that has no release.
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
        guard var found = try current(name, folder, read) else { return nil }
        let selection = found.selection(for: known, format)
        if let answer = found.answers[selection] { return answer }
        let answer = try Self.answer(
            try found.contents.express(for: known, read: read),
            found.contents.timestamp,
            format
        )
        found.answers[selection] = answer
        state.withLockedValue { [found] state in
            if state.bytes + answer.bytes.count > limit { state = State() }
            state.bytes += answer.bytes.count
            if let known = state.remembered[name], (known.origin, known.nextRoot) == (found.origin, found.nextRoot) {
                state.remembered[name]?.answers[selection] = answer
            } else {
                state.bytes -= state.remembered[name]?.answers.values.reduce(0) { $0 + $1.bytes.count } ?? 0
                state.remembered[name] = found
            }
        }
        return answer
    }

    /// What the timestamp leads to now; a publish meanwhile is seen.
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

    /// Its tag is the timestamp's digest and the newest root's version, whatever was left out: what a device names as known
    /// does not change whether anything is new.
    private static func answer(
        _ express: Express,
        _ timestamp: [UInt8],
        _ format: CompressionFormat?
    ) throws(ServerError) -> ServedBytes {
        let plain = express.fileBytes
        let effort: Compressor.Effort = plain.count > 262_144 ? .quick : .most
        let form = format.flatMap { try? $0.compressed(plain, effort: effort) }
        var headers: HTTPHeaders = ["X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding"]
        if let format, form != nil { headers.add(name: "Content-Encoding", value: format.rawValue) }
        let tag = "\(SHA256Digest(of: timestamp).hex.prefix(32)).\(express.newestRoot)"
        return ServedBytes(
            bytes: form ?? plain,
            entityTag: form == nil ? tag : tag + (format?.suffix ?? ""),
            contentType: ContentType.unknown,
            cacheControl: "public, max-age=60",
            headers: headers
        )
    }
}
