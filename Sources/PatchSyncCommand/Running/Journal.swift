import CommandSupport
import Glibc

/// The system's journal, which others of this machine may read.
enum Journal {
    /// Whether standard output goes there: JOURNAL_STREAM names its device and inode (systemd.exec(5)).
    static var isStandardOutput: Bool {
        guard let named = ProcessEnvironment.environment("JOURNAL_STREAM") else { return false }
        var found = stat()
        guard unsafe fstat(STDOUT_FILENO, &found) == 0 else { return false }
        return named == "\(found.st_dev):\(found.st_ino)"
    }
}
