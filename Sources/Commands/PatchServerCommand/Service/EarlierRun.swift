import PatchFormat
import ReleaseService
import ServerRecords

/// What a server does before it serves, because an earlier run ended in the middle of something.
///
/// Devices are served whatever became of it; the next start tries again.
enum EarlierRun {
    case unread
    case unfinished(RecordKey)
    case uploads

    func stays(_ why: String) -> String {
        let what =
            switch self {
            case .unread: "cannot look for changes that an earlier run did not finish"
            case .unfinished(let key): "cannot finish the change \(key), which an earlier run began"
            case .uploads: "cannot remove uploads that nobody goes on with"
            }
        return "\(what): \(why); the next start tries again"
    }

    static func settled(_ entry: HistoryEntry) -> String {
        "the history has \(entry.channel) \(entry.roleVersion) now; the run that published it ended before it wrote that down"
    }
}
