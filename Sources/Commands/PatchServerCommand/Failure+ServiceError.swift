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
                hint: "look whether it was done before you do it again, once the server can be reached",
                code: .network
            )
        case .redirected:
            self.init(error.description, hint: "name the address that it redirects to", code: .network)
        case .intercepted: self.init(error.description, hint: Interception.hint, code: .network)
        case .notEncrypted:
            self.init(
                error.description,
                hint: "ask it over https://, or say --insecure-http where nobody listens",
                code: .refused
            )
        case .tls:
            self.init(
                error.description,
                hint:
                    "--ca FILE names the authority of a server that has its own; name the server as its certificate does",
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
                hint: "is there a release service at --server, and nothing else?",
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
        case 401: "patchsrv token list shows which tokens hold; patchsrv token new makes one"
        case 400 where problem.kind == "http": "does that port speak TLS? then ask it over https://"
        case 404 where problem.kind == "http":
            "do devices ask there? operators have a port of their own, which patchsrv serve prints: 8081 unless told otherwise"
        default: nil
        }
    }
}
