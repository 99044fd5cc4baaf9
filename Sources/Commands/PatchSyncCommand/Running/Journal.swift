import CommandKit
import DeviceOutput
import Glibc

/// The system's journal, which others of this machine may read.
enum Journal {
    /// Where it takes entries with fields; PATCHSYNC_JOURNAL names another socket than the system's.
    static var entries: SystemJournal {
        SystemJournal(path: ProcessEnvironment.environment("PATCHSYNC_JOURNAL") ?? SystemJournal.path)
    }

    /// Whether standard output goes there: JOURNAL_STREAM names its device and inode (systemd.exec(5)).
    static var isStandardOutput: Bool {
        guard let named = ProcessEnvironment.environment("JOURNAL_STREAM") else { return false }
        var found = stat()
        guard unsafe fstat(STDOUT_FILENO, &found) == 0 else { return false }
        return named == "\(found.st_dev):\(found.st_ino)"
    }
}
