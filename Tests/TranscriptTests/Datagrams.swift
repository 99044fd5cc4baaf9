import Glibc
import Testing

/// A socket that takes datagrams, as the system's journal has one.
final class Datagrams {
    private let socket: Int32
    private let path: String

    init(at path: String) throws {
        self.path = path
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            for (index, byte) in path.utf8.enumerated() { unsafe field[index] = byte }
        }
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(socket, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
    }

    deinit {
        close(socket)
        _ = unsafe unlink(path)
    }

    /// One that was sent already; empty where there is none.
    func next() -> String {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
