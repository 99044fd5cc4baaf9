import CommandKit
import DeviceOutput
import Glibc

/// The system's journal, which other users of this machine may read.
enum Journal {
    /// The journal's socket for entries with fields.
    ///
    /// PATCHSYNC_JOURNAL names another one than the system's.
    static var entries: SystemJournal {
        SystemJournal(path: ProcessEnvironment.environment("PATCHSYNC_JOURNAL") ?? SystemJournal.path)
    }

    /// Whether standard output is connected to the journal: JOURNAL_STREAM contains its device and inode (systemd.exec(5)).
    static var isStandardOutput: Bool {
        guard let named = ProcessEnvironment.environment("JOURNAL_STREAM") else { return false }
        var found = stat()
        guard unsafe fstat(STDOUT_FILENO, &found) == 0 else { return false }
        return named == "\(found.st_dev):\(found.st_ino)"
    }
}
