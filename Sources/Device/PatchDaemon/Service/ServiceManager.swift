import CLinux
import Glibc

/// The service manager that started this process, if it expects notifications: an implementation of sd_notify(3).
package struct ServiceManager: Sendable {
    /// The path of a local socket, or its abstract name, which begins with '@' in NOTIFY_SOCKET.
    private let name: [CChar]
    /// The longest time between watchdog notifications, or nil if none are expected.
    package let watchdog: Duration?

    /// - Parameters:
    ///   - environment: Returns a variable of the process by its name.
    ///   - process: The process's own id.
    /// - Returns: Nil if no notifications are expected.
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
        /// Contains the time of the monotonic clock (CLOCK_MONOTONIC).
        case reloading(microseconds: Int64)
        case stopping
        case alive
        /// A text that `systemctl status` shows.
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

    /// Sends a notification.
    ///
    /// A failure is ignored, because the process's work does not depend on it. Blocks for a second at most.
    @discardableResult
    package func notify(_ words: Word...) -> Bool {
        let text = words.map(\.line).joined(separator: "\n")
        let bytes = Array(text.utf8)
        return unsafe patchline_send_to_local_socket(name, name.count, bytes, bytes.count) == 0
    }

    /// The time of CLOCK_MONOTONIC for ``Word/reloading(microseconds:)``.
    package static var microseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
