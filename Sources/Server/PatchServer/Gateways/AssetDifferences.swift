import Linux
import NIOConcurrencyHelpers
import PatchCompression
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// Assets for browsers that have an earlier version of them: compressed against that, as devices get them (RFC 9842).
///
/// Both versions are objects of the app, so nobody gets by it what is not published.
final class AssetDifferences: Sendable {
    struct Name: Hashable {
        let app: AppID
        let old: SHA256Digest
        let new: SHA256Digest
    }

    private struct State {
        /// Nil for one that would not be less.
        var made: [Name: [UInt8]?] = [:]
        var bytes = 0
        var room: DifferenceRoom
    }

    /// Of either version, in bytes.
    static let largest = 8_000_000
    private static let level = 12
    /// What one counts for beside its bytes.
    private static let overhead = 256

    private let tree: FilePath
    /// In bytes, of all of them; what would be more begins anew.
    private let limit: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: NIOLockedValueBox<State>

    init(
        tree: FilePath,
        limit: Int = 32_000_000,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.tree, self.limit, self.now) = (tree, limit, now)
        state = NIOLockedValueBox(State(room: DifferenceRoom(at: now())))
    }

    /// Nil where the old version is no object of the app, where the difference would not be worth it, and where too many are made
    /// just now: the asset is sent as it is.
    func bytes(_ name: Name) -> [UInt8]? {
        if let made = state.withLockedValue({ $0.made[name] }) { return made }
        // Whoever names what is not here takes no room.
        guard let there = try? DiskFiles().identity(of: path(name.old, of: name.app)), there.size <= Self.largest,
            state.withLockedValue({ $0.room.begin(at: now()) })
        else { return nil }
        var spent = 0
        defer { state.withLockedValue { $0.room.end(spending: spent) } }
        guard let old = object(name.old, of: name.app) else { return nil }
        spent = old.count
        guard let new = object(name.new, of: name.app) else { return nil }
        spent += new.count
        let coded = try? DictionaryCompressed.bytes(of: new, dictionary: old, named: name.old, level: Self.level)
        let bytes = coded.flatMap { CompressionFormat.pays($0.count, for: new.count) ? $0 : nil }
        remember(bytes, as: name)
        return bytes
    }

    private func remember(_ bytes: [UInt8]?, as name: Name) {
        let size = (bytes?.count ?? 0) + Self.overhead
        state.withLockedValue { state in
            if state.bytes + size > limit { (state.made, state.bytes) = ([:], 0) }
            if state.made.updateValue(bytes, forKey: name) == nil { state.bytes += size }
        }
    }

    /// What is compressed against other bytes than the client has comes out as neither, so both are digested.
    private func object(_ digest: SHA256Digest, of app: AppID) -> [UInt8]? {
        guard let bytes = try? DiskFiles().read(path(digest, of: app), limit: Self.largest),
            SHA256Digest(of: bytes) == digest
        else {
            return nil
        }
        return bytes
    }

    private func path(_ digest: SHA256Digest, of app: AppID) -> FilePath {
        tree.at(app.text).at(URLLayout.object(digest))
    }
}
