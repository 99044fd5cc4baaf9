import PatchCompression
import PatchFormat
import PatchStore
import PatchTrust
import SystemPackage

/// Assets for browsers that have an earlier version of them: compressed against that, as devices get them (RFC 9842).
///
/// Both versions are objects of the app, so nobody gets by it what is not published.
actor AssetDifferences {
    struct Name: Hashable {
        let app: AppID
        let old: SHA256Digest
        let new: SHA256Digest
    }

    /// Of either version, in bytes.
    static let largest = 8_000_000
    /// Of those that are kept in memory, in bytes.
    private static let room = 32_000_000
    private static let level = 12

    private let tree: FilePath
    private let files = DiskFiles()
    private let now: @Sendable () -> ContinuousClock.Instant
    private var takings: DifferenceRoom
    /// The most recently asked one is last; nil for what would not be less.
    private var made: [(name: Name, bytes: [UInt8]?)] = []

    init(tree: FilePath, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.tree = tree
        self.now = now
        takings = DifferenceRoom(at: now())
    }

    /// Nil where the old version is no object of the app, where the difference would not be worth it, and where too many are made
    /// just now: the asset is sent as it is.
    func bytes(_ name: Name) -> [UInt8]? {
        if let index = made.firstIndex(where: { $0.name == name }) {
            made.append(made.remove(at: index))
            return made[made.count - 1].bytes
        }
        guard takings.begin(at: now()) else { return nil }
        var spent = 0
        defer { takings.end(spending: spent) }
        guard let old = object(name.old, of: name.app), let new = object(name.new, of: name.app) else { return nil }
        spent = old.count + new.count
        let coded = try? DictionaryCompressed.bytes(of: new, dictionary: old, named: name.old, level: Self.level)
        let bytes = coded.flatMap { CompressionFormat.pays($0.count, for: new.count) ? $0 : nil }
        made.append((name, bytes))
        // One that is none takes a place, too.
        while made.count > 1, made.reduce(0, { $0 + ($1.bytes?.count ?? 0) + 256 }) > Self.room { made.removeFirst() }
        return bytes
    }

    /// What is compressed against other bytes than the client has comes out as neither, so both are digested.
    private func object(_ digest: SHA256Digest, of app: AppID) -> [UInt8]? {
        let path = tree.at(app.text).at(URLLayout.object(digest))
        guard let bytes = try? files.read(path, limit: Self.largest), SHA256Digest(of: bytes) == digest else {
            return nil
        }
        return bytes
    }
}
