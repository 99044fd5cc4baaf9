import CLinux
import Glibc

/// A port of `[::1]` that is bound so that no other user of this machine can listen there; connections are refused.
///
/// `localhost` and every name below it stand for 127.0.0.1 and for `[::1]`. A browser tries `[::1]` first and goes on
/// to 127.0.0.1 when that refuses, so a listener there would get our requests, cookies and all. An address that is
/// bound and not listened on refuses; bound without `SO_REUSEADDR`, it can be bound by no other socket (Linux).
package final class HeldPort: Sendable {
    private let descriptor: CInt

    /// - Returns: nil when the machine has no `[::1]`, which nobody can bind then.
    /// - Throws: `portInUse` while another socket listens there.
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
