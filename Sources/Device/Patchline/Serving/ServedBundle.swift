import AssetServer
import Linux
import HTTPFiles
import NIOConcurrencyHelpers
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync

/// The files of one bundle while it is served.
///
/// A file that is the one that was verified is served as it lies. Another is hashed first, once for each change of it;
/// what was found damaged stays so until it changes again, as it does when a sync heals it.
final class ServedBundle: AssetFiles {
    private struct Known {
        var check: IntegrityCheck
        /// By path: the file that was found damaged, nil where there was none.
        var damaged: [String: FileIdentity?] = [:]
        /// By path: what could not be read when it was looked at last.
        var unreadable: Set<String> = []
    }

    private let patch: InstalledPatch
    private let known: NIOLockedValueBox<Known>
    /// Keeps clean-up away until nobody serves this any more.
    private let keeping: LiveFile?
    private let whenDamaged: @Sendable (String) -> Void

    /// - Parameter whenDamaged: called with the file in words, once for each change that damaged it.
    init(
        _ patch: InstalledPatch,
        check: IntegrityCheck,
        keeping: LiveFile?,
        whenDamaged: @escaping @Sendable (String) -> Void
    ) {
        self.patch = patch
        self.keeping = keeping
        self.whenDamaged = whenDamaged
        known = NIOLockedValueBox(Known(check: check))
    }

    func recorded(_ row: BundleIndex.Row) -> AssetFile? {
        let check = known.withLockedValue(\.check)
        guard let (place, identity) = check.recorded(row, in: patch) else { return nil }
        return AssetFile((place, identity))
    }

    func contents(_ row: BundleIndex.Row) -> [UInt8]? {
        let check = known.withLockedValue(\.check)
        // Nil where another file lies there: whoever asks has it examined, and told.
        return (try? check.contents(of: row, in: patch)) ?? nil
    }

    func examined(_ row: BundleIndex.Row) -> AssetFile? {
        let before = known.withLockedValue(\.self)
        let there = before.check.identity(of: row, in: patch)
        if let damaged = before.damaged[row.path], damaged == there { return nil }
        var check = before.check
        let found: (FileLocation, FileIdentity)?
        do throws(FileError) { found = try check.examine(row, in: patch) } catch {
            // That says nothing of the file (too many may be open): it is tried again at the next request.
            let isNew = known.withLockedValue { $0.unreadable.insert(row.path).inserted }
            if isNew { whenDamaged("\(patch.label) \(row.path)") }
            return nil
        }
        guard let (place, identity) = found else {
            let known = known.withLockedValue { $0.damaged.updateValue(there, forKey: row.path) }
            if known != .some(there) { whenDamaged("\(patch.label) \(row.path)") }
            return nil
        }
        known.withLockedValue { known in
            known.check.record(identity, of: row.sha256, at: place)
            known.damaged[row.path] = nil
            known.unreadable.remove(row.path)
        }
        return AssetFile((place, identity))
    }
}
