import Glibc

/// The system's journal, by its native protocol (systemd's "Native Journal Protocol"): entries with fields.
package struct SystemJournal: Sendable {
    package static let path = "/run/systemd/journal/socket"

    /// The largest field in bytes.
    ///
    /// A datagram can contain several of that size.
    static let longestField = 32 * 1024

    private let path: String

    /// - Parameter path: The path of the journal's socket.
    package init(path: String = path) {
        self.path = path
    }

    /// - Returns: False if the journal did not accept the entry.
    package func send(_ fields: [(name: String, value: String)]) -> Bool {
        let bytes = Self.datagram(fields)
        var address = sockaddr_un()
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            for (index, byte) in path.utf8.enumerated() { unsafe field[index] = byte }
        }
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let socket = Glibc.socket(AF_UNIX, kind, 0)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        let sent = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let size = socklen_t(MemoryLayout<sockaddr_un>.size)
                return unsafe sendto(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL), pointer, size)
            }
        }
        return sent == bytes.count
    }

    /// Encodes fields as `NAME=value`.
    ///
    /// A value with several lines is encoded as the name, its size in 64 bits (little-endian), and its bytes.
    ///
    /// - Parameter fields: The fields. Names contain only upper-case letters, digits and underscores.
    package static func datagram(_ fields: [(name: String, value: String)]) -> [UInt8] {
        fields.flatMap { name, value -> [UInt8] in
            let bytes = Array(value.utf8.prefix(longestField))
            guard bytes.contains(0x0A) else { return Array("\(name)=".utf8) + bytes + [0x0A] }
            let size = (0..<8).map { UInt8(truncatingIfNeeded: UInt64(bytes.count) >> ($0 * 8)) }
            return Array("\(name)\n".utf8) + size + bytes + [0x0A]
        }
    }
}
