import CLinux
import Glibc

/// A port of `[::1]` that is taken so that nobody else on this machine listens there; nobody answers there either.
///
/// `localhost` and every name below it stand for 127.0.0.1 and for `[::1]`. A browser asks `[::1]` first and goes on to
/// 127.0.0.1 when that refuses, so whoever listened there would get what is meant for us, cookies and all. An address that
/// is bound and not listened on refuses; bound without `SO_REUSEADDR`, no other socket is bound or listens there (Linux).
package final class HeldPort: Sendable {
    private let descriptor: CInt

    /// - Returns: nil where the machine has no `[::1]`, which nobody can take then.
    /// - Throws: `portInUse` while anybody listens there.
    package init?(_ port: Int) throws(FileServerError) {
        descriptor = patchline_hold_loopback_port(UInt16(truncatingIfNeeded: port))
        guard descriptor < 0 else { return }
        switch errno {
        case EAFNOSUPPORT, EADDRNOTAVAIL: return nil
        case EADDRINUSE: throw .portInUse(host: "::1", port: port)
        case let code: throw .cannotBind(host: "::1", port: port, reason: "error \(code)")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
