import Glibc

/// A port of `[::1]` that is taken so that nobody else on this machine listens there; nobody answers there either.
///
/// `localhost` and every name below it stand for 127.0.0.1 and for `[::1]`. A browser asks `[::1]` first and goes on to
/// 127.0.0.1 when that refuses, so whoever listened there would get what is meant for us, cookies and all. An address that
/// is bound and not listened on refuses; bound without `SO_REUSEADDR`, no other socket is bound or listens there (Linux).
///
/// This file is the module's socket adapter.
package final class HeldPort: Sendable {
    private let descriptor: CInt

    /// - Returns: nil where the machine has no `[::1]`, which nobody can take then.
    /// - Throws: `portInUse` while anybody listens there.
    package init?(_ port: Int) throws(FileServerError) {
        descriptor = socket(AF_INET6, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            if errno == EAFNOSUPPORT { return nil }
            throw Self.fault(port)
        }
        do throws(FileServerError) {
            try take(port)
        } catch {
            let hasNone = errno == EADDRNOTAVAIL
            close(descriptor)
            if hasNone { return nil }
            throw error
        }
    }

    deinit { close(descriptor) }

    private func take(_ port: Int) throws(FileServerError) {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = in_port_t(truncatingIfNeeded: port).bigEndian
        unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0[15] = 1 }
        try set(IPV6_V6ONLY, of: CInt(IPPROTO_IPV6), to: 1, port)
        // Ended connections of the last minute do not stand in the way; somebody who listens does, by the second call.
        try set(SO_REUSEADDR, of: SOL_SOCKET, to: 1, port)
        let isBound = unsafe withUnsafeBytes(of: &address) { bytes in
            guard let start = bytes.baseAddress else { return false }
            return unsafe bind(descriptor, start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
        }
        guard isBound, listen(descriptor, 0) == 0 else { throw Self.fault(port) }
        try set(SO_REUSEADDR, of: SOL_SOCKET, to: 0, port)
        guard shutdown(descriptor, CInt(SHUT_RDWR)) == 0 else { throw Self.fault(port) }
    }

    private func set(_ option: CInt, of level: CInt, to value: CInt, _ port: Int) throws(FileServerError) {
        var value = value
        let size = socklen_t(MemoryLayout<CInt>.size)
        guard unsafe setsockopt(descriptor, level, option, &value, size) == 0 else { throw Self.fault(port) }
    }

    private static func fault(_ port: Int) -> FileServerError {
        guard errno != EADDRINUSE else { return .portInUse(host: "::1", port: port) }
        return .cannotBind(host: "::1", port: port, reason: "error \(errno)")
    }
}
