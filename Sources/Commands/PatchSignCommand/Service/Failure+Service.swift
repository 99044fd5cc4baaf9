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
        case .notEncrypted: "ask it over https://, or say --insecure-http where nobody listens"
        case .otherApp, .otherRoot, .notProven: ServiceError.otherServerHint
        case .unidentified: ServiceError.olderServerHint
        case .tls: "--ca FILE names the authority of a server that has its own; name the server as its certificate does"
        case .connection, .timedOut: "try again when the server can be reached; a push goes on where it was interrupted"
        case .redirected: "name the address that it redirects to with --server"
        case .intercepted: Interception.hint
        case .lacking: "push the whole release: this one was fetched without its objects"
        case .changed: "make the release again; a signed release is never edited"
        case .trust(.rolledBack), .trust(.droppedFromSnapshot):
            "devices refuse it too; the online key may be stolen. If the server was restored from a backup, "
                + "\(MemoryOptions.flag) accepts its present state"
        case .trust: "is --keys the root of trust of this app?"
        case .otherChange: "nothing was signed; ask whoever runs the server why it holds another change than it took"
        case .answer: "is there a release service at --server, and nothing else?"
        case .noRollout:
            "update patchsrv, or push without --rollout, --paused and --ramp, which offers it to all devices; nothing was sent"
        case .noRelease, .severalApps, .noAuthority, .tooLarge, .malformed, .endless, .file, .release, .cancelled: nil
        }
    }

    private static func hint(_ problem: ServiceProblem) -> String? {
        switch problem.status {
        case 400 where problem.kind == "http": "does that port speak TLS? then ask it over https://"
        case 401: "`patchsrv token list` shows which tokens hold; `patchsrv token new` makes one"
        case 413:
            "a proxy before the server may take smaller bodies only: nginx needs `client_max_body_size 0` for it"
        case 404 where problem.kind == "http":
            "do devices ask there? pipelines have a port of their own, which patchsrv serve prints: 8081 unless told otherwise"
        default: nil
        }
    }
}
