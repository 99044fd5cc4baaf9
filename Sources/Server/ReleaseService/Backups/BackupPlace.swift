import PatchServer
import PatchStore
package import SystemPackage

extension FilePath {
    /// The backup that contains this path, or nil.
    ///
    /// The path need not exist.
    private var backupAround: FilePath? {
        get throws(FileError) {
            let files = DiskFiles()
            var place = self
            while try files.status(of: place.followingLinks) == nil, place != place.parent { place = place.parent }
            place = place.followingLinks
            while true {
                if try files.status(of: place.at(BackupHeader.name)) != nil { return place }
                guard place != place.parent else { return nil }
                place = place.parent
            }
        }
    }

    /// Rejects a path in a backup.
    ///
    /// Writing into a backup would mix states of different times.
    ///
    /// - Throws: ``BackupError``, and errors of the disk.
    package func checkIsOutsideBackups() throws {
        guard let backup = try backupAround else { return }
        throw backup == followingLinks ? BackupError.isBackup(self) : .insideBackup(self, backup: backup)
    }
}
