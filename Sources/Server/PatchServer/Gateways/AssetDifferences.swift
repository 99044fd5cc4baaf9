import Linux
import NIOConcurrencyHelpers
import PatchCompression
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// Assets compressed against an earlier version that the browser has (RFC 9842), like those for devices.
///
/// Both versions are objects of the app, so a difference reveals only published content.
final class AssetDifferences: Sendable {
    struct Name: Hashable {
        let app: AppID
        let old: SHA256Digest
        let new: SHA256Digest
    }

    private struct State {
        /// The differences made; nil for one that would not be smaller.
        var made: [Name: [UInt8]?] = [:]
        var bytes = 0
        var room: DifferenceBudget
    }

    /// The limit of either version, in bytes.
    static let largest = 8_000_000
    private static let level = 12
    /// The memory counted for one difference in addition to its bytes.
    private static let overhead = 256

    private let tree: FilePath
    /// The limit of the cache in bytes; if exceeded, the cache is emptied.
    private let limit: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: NIOLockedValueBox<State>

    init(
        tree: FilePath,
        limit: Int = 32_000_000,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.tree, self.limit, self.now) = (tree, limit, now)
        state = NIOLockedValueBox(State(room: DifferenceBudget(at: now())))
    }

    /// The difference, or nil if the asset should be sent as it is.
    ///
    /// That applies if the old version does not belong to the app, the difference would save too little, or too many are being
    /// made.
    func bytes(_ name: Name) -> [UInt8]? {
        if let made = state.withLockedValue({ $0.made[name] }) { return made }
        // Requests for missing old versions do not use up the budget.
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

    /// Checks the digest of either version: a difference from other bytes than the client's decompresses to garbage.
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
