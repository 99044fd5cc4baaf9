import PatchFormat
import ReleaseService
import ServerRecords

/// Work of an earlier run that is completed before a server starts.
///
/// A failure does not keep the server from starting. The next start tries again.
enum EarlierRun {
    case unread
    case unfinished(RecordKey)
    case uploads

    func stays(_ why: String) -> String {
        let what =
            switch self {
            case .unread: "cannot look for unfinished changes of an earlier run"
            case .unfinished(let key): "cannot finish the change \(key), which an earlier run began"
            case .uploads: "cannot remove abandoned uploads"
            }
        return "\(what): \(why); the next start tries again"
    }

    static func settled(_ entry: HistoryEntry) -> String {
        "the history has \(entry.channel) \(entry.roleVersion) now; the run that published it ended before it recorded that"
    }
}
