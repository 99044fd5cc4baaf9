import HTTPFiles
import HTTPCore
import NIOHTTP1
import PatchFetch

/// Why an upstream did not answer.
enum UpstreamFault: Error, Equatable, Sendable {
    /// Too many requests to the upstream are in progress, in all or from this client. Nothing of the request was sent.
    case busy
    /// Too many endless answers of the upstream are in progress, in all or for this client.
    case tooManyStreams
    /// There is no connection. Nothing of the request was sent.
    case unreachable
    /// There is no connection within the time limit. Nothing of the request was sent.
    case connectTimedOut
    /// The server's identity could not be verified, or it does not speak TLS. Nothing of the request was sent.
    case notTrusted
    /// The connection was made, and then nothing was transferred for the rule's time.
    case timedOut
    /// The connection ended before the answer did.
    case closed
    /// The received bytes are not HTTP.
    case malformed
    /// An answer that HTTP does not allow.
    case answer(AnswerFault)

    init(_ error: any Error) {
        if let fault = error as? UpstreamFault {
            self = fault
            return
        }
        let fault = TransportFault(error)
        switch fault {
        case .connectTimedOut, .handshakeTimedOut, .noConnection(_, _, withinDeadline: false): self = .connectTimedOut
        case .noConnection, .noAddress: self = .unreachable
        case .socket: self = fault.isBeforeRequest ? .unreachable : .closed
        case .tls: self = .notTrusted
        case .deadline, .silent: self = .timedOut
        case .malformed, .endedEarly(.cut): self = .malformed
        case .answer(let fault): self = .answer(fault)
        case .endedEarly, .client, .other: self = .closed
        }
    }

    /// Whether another upstream may receive the same request, because this one has received nothing of it.
    var isBeforeRequest: Bool {
        switch self {
        case .busy, .unreachable, .connectTimedOut, .notTrusted: true
        case .tooManyStreams, .timedOut, .closed, .malformed, .answer: false
        }
    }

    /// Whether the proxy itself refused the request.
    ///
    /// The upstream did nothing wrong.
    var isRefusal: Bool { self == .busy || self == .tooManyStreams }

    /// The answer for the page.
    ///
    /// `X-Patchline-Proxy` distinguishes it from an upstream's own 502.
    func answer(_ upstream: Upstream) -> FileAnswer {
        let host = upstream.authority
        let (status, name, text): (HTTPResponseStatus, String, String) =
            switch self {
            case .busy: (.serviceUnavailable, "busy", "Too many requests to \(host) are under way.")
            case .tooManyStreams: (.serviceUnavailable, "busy", "Too many event streams of \(host) are open.")
            case .unreachable: (.badGateway, "unreachable", "\(host) cannot be reached.")
            case .connectTimedOut: (.gatewayTimeout, "timeout", "\(host) cannot be reached in time.")
            case .notTrusted: (.badGateway, "tls", "There is no trusted TLS connection to \(host).")
            case .timedOut: (.gatewayTimeout, "timeout", "\(host) did not answer in time.")
            case .closed: (.badGateway, "closed", "\(host) ended the connection before its answer.")
            case .malformed: (.badGateway, "malformed", "\(host) did not answer in HTTP.")
            case .answer(let fault): (.badGateway, "malformed", "The answer of \(host) \(fault).")
            }
        var headers: HTTPHeaders = ["X-Patchline-Proxy": name, "Cache-Control": "no-store"]
        if isRefusal { headers.add(name: "Retry-After", value: "5") }
        return .refused(status, message: text, headers: headers)
    }
}

extension UpstreamFault: CustomStringConvertible {
    /// The text for a log line, after the upstream's origin.
    var description: String {
        switch self {
        case .busy: "too many requests are under way"
        case .tooManyStreams: "too many event streams are open"
        case .unreachable: "no connection"
        case .connectTimedOut: "no connection in time"
        case .notTrusted: "no TLS connection that can be trusted"
        case .timedOut: "no bytes moved for too long"
        case .closed: "the connection ended before the answer did"
        case .malformed: "the answer is not HTTP"
        case .answer(let fault): "the answer \(fault)"
        }
    }
}
