package import PatchFormat
package import SystemPackage

/// Why a backup is not made or not restored, apart from faults of its files, its records and its tree.
package enum BackupError: Error, Equatable, Sendable {
    /// The folder has no ``BackupHeader``.
    case notBackup(FilePath)
    /// A file of the backup is missing, or is not the one that was backed up. The text names it.
    case incomplete(FilePath, fault: String)
    /// The audit log in the backup does not end with the entry that its header names.
    case otherAuditLog
    /// The data folder contains a server.
    case serverExists(FilePath)
    /// The path is a backup.
    case isBackup(FilePath)
    /// The path is inside a backup. Writing there would mix states of different times.
    case insideBackup(FilePath, backup: FilePath)
    case targetExists(FilePath)
    case noFolder(FilePath)
    /// The new backup would be inside the server's data folder.
    case insideData(FilePath)
    /// The app has lost its timestamp, so that it would not be in the backup.
    case lostTimestamp(AppID)
}
