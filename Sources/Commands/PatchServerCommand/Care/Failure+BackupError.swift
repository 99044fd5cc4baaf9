import PatchFormat
import PatchServer
import ReleaseService

extension Failure {
    init(_ error: BackupError) {
        switch error {
        case .notBackup(let directory):
            self.init(
                "\(directory) is not a backup: it has no \(BackupHeader.name)",
                hint: "name a folder that patchsrv backup made; for files restored in another way, use --in-place",
                code: .malformed
            )
        case .incomplete(let directory, let fault):
            self.init(
                "\(directory) is not a complete backup: \(fault)",
                hint: "copy it again from where it was made, or name another backup; nothing was restored",
                code: .malformed
            )
        case .otherAuditLog:
            self.init(
                "the audit log of the backup does not end with the entry that \(BackupHeader.name) names",
                hint: "name another backup; no app was restored",
                code: .malformed
            )
        case .serverExists(let data):
            self.init(
                "there is a server in \(data) already",
                hint: "name an empty folder; nothing was changed",
                code: .conflict
            )
        case .isBackup(let path):
            self.init("\(path) is a backup", hint: "name a folder elsewhere; nothing was written", code: .usage)
        case .insideBackup(let path, let backup):
            self.init(
                "\(path) is inside the backup \(backup)",
                hint: "name a folder elsewhere; nothing was written",
                code: .usage
            )
        case .targetExists(let target):
            self.init("\(target) exists already", hint: "name another folder", code: .conflict)
        case .noFolder(let parent):
            self.init("there is no folder \(parent)", hint: "create it first", code: .disk)
        case .insideData(let target):
            self.init(
                "\(target) is inside the data folder",
                hint: "name a folder elsewhere, on another disk at best",
                code: .usage
            )
        case .lostTimestamp(let app):
            self.init(
                "\(app) has lost its timestamp, so nothing of it would be in the backup; none was made",
                hint: "patchsrv check --repair --from a folder that patchsrv export made, or a backup",
                code: .refused
            )
        }
    }
}
