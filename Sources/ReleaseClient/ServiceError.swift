package import HTTPPeers
package import PatchFormat
package import PatchStore
package import PatchTrust
package import ReleaseFolder

/// Why a release service and this program did not come together.
package enum ServiceError: Error, Equatable, Sendable {
    case problem(ServiceProblem)
    /// No connection, or one that broke.
    case connection(String)
    case timedOut(String)
    case tls(host: String, reason: String)
    /// The file of authorities holds no certificate.
    case noAuthority
    /// A token would have travelled for everybody to read.
    case notEncrypted(host: String)
    case redirected(to: String)
    case tooLarge(String, limit: Int)
    /// An answer that is not what the service answers.
    case malformed(FormatError)
    /// What no server may answer.
    case answer(AnswerFault)
    /// The server asks for a part that neither it nor the release has.
    case lacking(String)
    /// A file of the release has another size than the release says.
    case changed(String)
    /// However often it is sent, the server wants it again.
    case endless
    case file(FileError)
    /// What the server publishes does not verify.
    case trust(TrustError)
    /// A release that was fetched does not verify.
    case release(ReleaseError)
    case noRelease(ChannelName)
    /// Nobody said which one is meant; or there is none.
    case severalApps([AppID])
    case cancelled

    /// Whether trying again may help.
    var isPassing: Bool {
        switch self {
        case .problem(let problem): problem.isPassing
        case .connection, .timedOut: true
        case .tls, .noAuthority, .notEncrypted, .redirected, .tooLarge, .malformed, .answer, .lacking, .changed,
            .endless,
            .file, .trust, .release, .noRelease, .severalApps, .cancelled:
            false
        }
    }

    /// What the server asks for, where it does.
    var retryAfter: Duration? {
        if case .problem(let problem) = self { problem.retryAfter.map { .seconds($0) } } else { nil }
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
        case .notEncrypted(let host): "\(host) is asked without TLS, so anybody on the way could read the token"
        case .redirected(let target): "the server redirects to \(target), which is not followed"
        case .tooLarge(let what, let limit): "\(what): more than the \(limit) bytes that are allowed"
        case .malformed(let error): "the server's answer is not what it should be: \(error)"
        case .answer(let fault): "the server's answer \(fault)"
        case .lacking(let name): "the server lacks \(name), and so does this release"
        case .changed(let name): "\(name): its file has another size than the release says"
        case .endless: "the server asks again and again for what was sent"
        case .file(let error): error.description
        case .trust(let error): "what the server publishes does not verify: \(error)"
        case .release(let error): "what the server sent does not verify: \(error)"
        case .noRelease(let channel): "\(channel) has no release yet"
        case .severalApps(let apps):
            apps.isEmpty
                ? "the token may see no app" : "--app is needed: there are \(apps.map(\.text).joined(separator: ", "))"
        case .cancelled: "cancelled"
        }
    }
}
