import CLinux
import Glibc

/// The service manager that started this process, where it wants to hear of it: sd_notify(3), by hand.
package struct ServiceManager: Sendable {
    /// A socket of this machine by its path, or by its abstract name, which NOTIFY_SOCKET begins with '@'.
    private let name: [CChar]
    /// How often a sign of life is wanted at least; nil where none is.
    package let watchdog: Duration?

    /// - Parameters:
    ///   - environment: a variable of the process by its name.
    ///   - process: the process's own id.
    /// - Returns: nil where nobody wants to hear.
    package init?(process: Int32 = getpid(), environment: (String) -> String?) {
        guard let path = environment("NOTIFY_SOCKET"), let first = path.utf8.first, path.utf8.count > 1,
            first == UInt8(ascii: "/") || first == UInt8(ascii: "@")
        else { return nil }
        var name = path.utf8.map { CChar(bitPattern: $0) }
        if first == UInt8(ascii: "@") { name[0] = 0 }
        self.name = name
        let isOurs = environment("WATCHDOG_PID").map { Int32($0) == process } ?? true
        let microseconds = environment("WATCHDOG_USEC").flatMap { Int64($0) }
        watchdog = isOurs ? microseconds.flatMap { $0 > 0 ? .microseconds($0) : nil } : nil
    }

    package enum Word: Equatable, Sendable {
        case ready
        /// With the steady clock's time (CLOCK_MONOTONIC).
        case reloading(microseconds: Int64)
        case stopping
        case alive
        /// For people: `systemctl status` shows it.
        case status(String)

        var line: String {
            switch self {
            case .ready: "READY=1"
            case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time)"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            case .status(let text): "STATUS=\(text.replacing("\n", with: " "))"
            }
        }
    }

    /// Nobody hears of it that this failed: the work does not depend on it, and waits a second at most.
    @discardableResult
    package func tell(_ words: Word...) -> Bool {
        let text = words.map(\.line).joined(separator: "\n")
        let bytes = Array(text.utf8)
        return unsafe patchline_send_to_local_socket(name, name.count, bytes, bytes.count) == 0
    }

    /// CLOCK_MONOTONIC, as ``Word/reloading(microseconds:)`` wants it.
    package static var microseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
