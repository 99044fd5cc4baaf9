import PatchFetch
import PatchFormat
import ReleaseClient
import CommandKit

/// Failures of a server that was asked over HTTP.
extension Failure {
    init(_ error: ServiceError) {
        switch error {
        case .problem(let problem):
            self.init(error.description, hint: problem.hint ?? Self.hint(problem), code: Self.code(problem))
        case .connection, .timedOut:
            self.init(
                error.description,
                hint: "when the server is reachable, check whether it was done before you try again",
                code: .network
            )
        case .redirected:
            self.init(error.description, hint: "name the address that it redirects to", code: .network)
        case .intercepted: self.init(error.description, hint: Interception.hint, code: .network)
        case .notEncrypted:
            self.init(
                error.description,
                hint: "use https://, or --insecure-http in a network that you trust",
                code: .refused
            )
        case .tls:
            self.init(
                error.description,
                hint:
                    "give the server's own authority with --ca FILE; use the host name in its certificate",
                code: .refused
            )
        case .otherApp, .otherRoot, .notProven:
            self.init(error.description, hint: ServiceError.otherServerHint, code: .refused)
        case .unidentified: self.init(error.description, hint: ServiceError.olderServerHint, code: .refused)
        case .severalApps: self.init(error.description, code: .usage)
        case .cancelled: self.init(error.description, code: .interrupted)
        case .file: self.init(error.description, code: .disk)
        case .noAuthority, .malformed, .otherChange, .answer, .changed:
            self.init(
                error.description,
                hint: "name the address of a release service with --server",
                code: .malformed
            )
        case .tooLarge, .lacking, .endless, .trust, .release, .noRelease, .noRollout:
            self.init(error.description, code: .refused)
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

    private static func hint(_ problem: ServiceProblem) -> String? {
        switch problem.status {
        case 401: "patchsrv token list shows the valid tokens; patchsrv token new makes one"
        case 400 where problem.kind == "http": "if that port uses TLS, use https://"
        case 404 where problem.kind == "http":
            "use the operators' port, not the devices': patchsrv serve prints it, 8081 by default"
        default: nil
        }
    }
}
