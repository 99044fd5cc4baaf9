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
/// A file that is unchanged since it was verified is served directly. A changed file is hashed first, once per change. A damaged
/// file stays rejected until it changes again, for example when a sync heals it.
final class ServedBundle: AssetFiles {
    private struct Known {
        var check: IntegrityCheck
        /// The identity of each damaged file by path, or nil if the file was missing.
        var damaged: [String: FileIdentity?] = [:]
        /// The paths of the files that could not be read at the last attempt.
        var unreadable: Set<String> = []
    }

    private let patch: InstalledPatch
    private let known: NIOLockedValueBox<Known>
    /// Protects the files from clean-up while they are served.
    private let keeping: LiveFile?
    private let whenDamaged: @Sendable (String) -> Void

    /// - Parameter whenDamaged: Called with a description of the file, once for each change that damaged it.
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
        // Nil if the file was replaced. The caller then has it examined, which reports the damage.
        return (try? check.contents(of: row, in: patch)) ?? nil
    }

    func examined(_ row: BundleIndex.Row) -> AssetFile? {
        let before = known.withLockedValue(\.self)
        let there = before.check.identity(of: row, in: patch)
        if let damaged = before.damaged[row.path], damaged == there { return nil }
        var check = before.check
        let found: (FileLocation, FileIdentity)?
        do throws(FileError) { found = try check.examine(row, in: patch) } catch {
            // A read error does not prove damage (too many files may be open), so the next request tries again.
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
