package import HTTPCore
package import PatchFetch
package import PatchFormat
package import PatchStore
import PatchCrypto
package import PatchTrust
package import ReleaseFolder

/// The reason why a request to a release service failed.
package enum ServiceError: Error, Equatable, Sendable {
    case problem(ServiceProblem)
    /// The connection failed or broke.
    case connection(String)
    case timedOut(String)
    case tls(host: String, reason: String)
    /// The file of certificates contains none.
    case noAuthority
    /// The token would have been sent unencrypted.
    case notEncrypted(host: String)
    /// The server has other apps, so it is not the intended one.
    case otherApp(AppID, has: [AppID], at: ServerURL)
    /// The server has another app of the same name.
    case otherRoot(AppID, version: Int, at: ServerURL)
    /// The server cannot prove that it knows the token.
    case notProven(ServerURL)
    /// The server does not support the identity question, or it is another program.
    case unidentified(ServerURL)
    case redirected(to: String)
    /// A captive portal or a proxy answered instead of the server.
    case intercepted(Interception)
    case tooLarge(String, limit: Int)
    /// An answer that breaks the service's rules.
    case malformed(FormatError)
    /// A proposal with another change than the requested one.
    case otherChange(asked: ProposedChange, offered: ProposedChange)
    /// An answer that is never valid.
    case answer(AnswerFault)
    /// The server asks for a part that neither it nor the release has.
    case lacking(String)
    /// The size of a file differs from the release's entry.
    case changed(String)
    /// The server repeatedly asks for a part that was sent.
    case endless
    case file(FileError)
    /// The published tree is not valid.
    case trust(TrustError)
    /// A downloaded release is not valid.
    case release(ReleaseError)
    case noRelease(ChannelName)
    /// The server does not support the requested rollouts, and would offer the release to all devices.
    case noRollout
    /// No app was named, and the token gives access to these, or to none.
    case severalApps([AppID])
    case cancelled

    /// Whether repeating the request may help.
    var isPassing: Bool {
        switch self {
        case .problem(let problem): problem.isPassing
        case .connection, .timedOut: true
        case .otherApp, .otherRoot, .notProven, .unidentified: false
        case .tls, .noAuthority, .notEncrypted, .redirected, .intercepted, .tooLarge, .malformed, .otherChange,
            .answer, .lacking, .changed, .endless, .file, .trust, .release, .noRelease, .noRollout, .severalApps,
            .cancelled:
            false
        }
    }

    /// The delay that the server requests, if any.
    var retryAfter: Duration? {
        // The back-off of builds fails if a server requests a longer delay than its limit.
        if case .problem(let problem) = self { problem.retryAfter?.upTo(.seconds(RetryAfter.longest)) } else { nil }
    }
}

extension ServiceError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .problem(let problem): problem.detail
        case .connection(let reason): reason
        case .timedOut(let what): "\(what): no answer in time"
        case .tls(let host, let reason): "no TLS connection to \(host): \(reason)"
        case .noAuthority: "there is no certificate in PEM in the file of authorities"
        case .notEncrypted(let host): "the connection to \(host) has no TLS, so the network could read the token"
        case .otherApp(let app, let has, let server):
            (has.isEmpty
                ? "the server at \(server) does not have \(app)"
                : "the server at \(server) has \(Self.some(has)), not \(app)") + Self.unsent
        case .otherRoot(let app, let version, let server):
            "the server at \(server) has another \(app): its root of trust \(version) differs from yours" + Self.unsent
        case .notProven(let server): "the server at \(server) cannot prove that it knows the token" + Self.unsent
        case .unidentified(let server): "the server at \(server) does not identify itself" + Self.unsent
        case .redirected(let target): "the server redirects to \(target), which is not followed"
        case .intercepted(let sign): sign.description
        case .tooLarge(let what, let limit): "\(what): more than the \(limit) bytes that are allowed"
        case .malformed(let error): "the server's answer is not valid: \(error)"
        case .otherChange(let asked, let offered):
            "the server's proposal is not the requested change: \(asked.words(against: offered))"
        case .answer(let fault): "the server's answer \(fault)"
        case .lacking(let name): "the server lacks \(name), and so does this release"
        case .changed(let name): "\(name): its file does not have the size in the release"
        case .endless: "the server keeps asking for parts that were sent"
        case .file(let error): error.description
        case .trust(let error): "the server's published metadata does not verify: \(error)"
        case .release(let error): "the files from the server do not verify: \(error)"
        case .noRelease(let channel): "\(channel) has no release yet"
        case .noRollout: "this server cannot publish with a rollout: its patchsrv is older"
        case .severalApps(let apps):
            apps.isEmpty
                ? "the token gives access to no app"
                : "--app is needed: there are \(apps.map(\.text).joined(separator: ", "))"
        case .cancelled: "cancelled"
        }
    }

    /// The hint for a different server at the address.
    package static let otherServerHint =
        "another server may have its port: name yours with --server; `patchsrv serve` prints the operators' address"
    package static let olderServerHint =
        "upgrade its patchsrv, which is older than this program, or use https://"

    private static let unsent = "; the token was not sent"

    /// The names of at most five apps.
    private static func some(_ apps: [AppID]) -> String {
        let named = apps.prefix(5).map(\.text).joined(separator: ", ")
        return apps.count > 5 ? "\(named) and \(apps.count - 5) more" : named
    }
}
