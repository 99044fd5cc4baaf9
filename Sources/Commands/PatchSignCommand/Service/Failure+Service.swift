import PatchFetch
import PatchFormat
import PatchCrypto
import PatchTrust
import ReleaseClient
import CommandKit

/// The message, hint and exit code of `patchsign` for errors of a release service.
extension Failure {
    init(_ error: ServiceError) {
        self.init(error.description, hint: Self.hint(error), code: Self.code(error))
    }

    private static func code(_ error: ServiceError) -> ResultCode {
        switch error {
        case .problem(let problem): code(problem)
        case .connection, .timedOut, .redirected, .intercepted, .endless: .network
        case .tls, .notEncrypted, .trust, .noRelease, .otherApp, .otherRoot, .notProven, .unidentified: .refused
        case .malformed, .otherChange, .answer, .noAuthority, .changed: .malformed
        case .release, .lacking, .tooLarge, .noRollout: .refused
        case .file: .disk
        case .severalApps: .usage
        case .cancelled: .interrupted
        }
    }

    private static func code(_ problem: ServiceProblem) -> ResultCode {
        switch problem.status {
        case 409: .conflict
        case 400, 415: .malformed
        case 408, 425, 429, 500...: .network
        default: .refused
        }
    }

    private static func hint(_ error: ServiceError) -> String? {
        switch error {
        case .problem(let problem): problem.hint ?? hint(problem)
        case .notEncrypted: "use https://, or --insecure-http in a network that you trust"
        case .otherApp, .otherRoot, .notProven: ServiceError.otherServerHint
        case .unidentified: ServiceError.olderServerHint
        case .tls: "give the server's own authority with --ca FILE; use the host name in its certificate"
        case .connection, .timedOut: "try again when the server is reachable; a push continues where it was interrupted"
        case .redirected: "name the address that it redirects to with --server"
        case .intercepted: Interception.hint
        case .lacking: "push the whole release: this one was fetched without its objects"
        case .changed: "make the release again; a signed release is never edited"
        case .trust(.rolledBack), .trust(.droppedFromSnapshot):
            "devices refuse it too; the online key may be stolen. If the server was restored from a backup, "
                + "\(MemoryOptions.flag) accepts its present state"
        case .trust: "name this app's root of trust with --keys"
        case .otherChange: "nothing was signed; ask the server's operator why its change differs from the proposed one"
        case .answer: "name the address of a release service with --server"
        case .noRollout:
            "update patchsrv, or push without --rollout, --paused and --ramp, which offers it to all devices; nothing was sent"
        case .noRelease, .severalApps, .noAuthority, .tooLarge, .malformed, .endless, .file, .release, .cancelled: nil
        }
    }

    private static func hint(_ problem: ServiceProblem) -> String? {
        switch problem.status {
        case 400 where problem.kind == "http": "if that port uses TLS, use https://"
        case 401: "`patchsrv token list` shows the valid tokens; `patchsrv token new` makes one"
        case 413:
            "a proxy before the server may limit bodies: nginx needs `client_max_body_size 0` for it"
        case 404 where problem.kind == "http":
            "use the operators' port, not the devices': patchsrv serve prints it, 8081 by default"
        default: nil
        }
    }
}
