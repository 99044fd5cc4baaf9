import CLinux
import Glibc

/// A port of `[::1]` that is bound so that no other user of this machine can listen there.
///
/// Connections to it are refused.
///
/// `localhost` and every name below it resolve to 127.0.0.1 and `[::1]`. A browser tries `[::1]` first and 127.0.0.1 only after a
/// refusal, so a foreign listener on `[::1]` would receive our requests with their cookies. A port that is bound without a listener
/// refuses connections. Bound without `SO_REUSEADDR`, it cannot be bound by another socket (Linux).
package final class HeldPort: Sendable {
    private let descriptor: CInt

    /// - Returns: Nil if the machine has no `[::1]`. Then no process can bind it.
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
