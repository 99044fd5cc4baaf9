import HTTPFiles
import HTTPPeers
import NIOHTTP1
import PatchFetch

/// Why an upstream gave no answer.
enum UpstreamFault: Error, Equatable, Sendable {
    /// There is no connection: nothing of the request was sent.
    case unreachable
    /// There is no connection in time: nothing of the request was sent.
    case connectTimedOut
    /// It is not who it should be, or does not speak TLS: nothing of the request was sent.
    case notTrusted
    /// The connection is made, and nothing moved on it for the rule's time.
    case timedOut
    /// The connection ended before the answer did.
    case closed
    /// What came is no HTTP.
    case malformed
    /// What no server may answer.
    case answer(AnswerFault)

    init(_ error: any Error) {
        if let fault = error as? UpstreamFault {
            self = fault
            return
        }
        let fault = TransportFault(error)
        switch fault {
        case .connectTimedOut, .handshakeTimedOut, .noConnection(_, _, inTime: false): self = .connectTimedOut
        case .noConnection, .noAddress: self = .unreachable
        case .socket: self = fault.isBeforeRequest ? .unreachable : .closed
        case .tls: self = .notTrusted
        case .deadline, .silent: self = .timedOut
        case .malformed, .endedEarly(.cut): self = .malformed
        case .answer(let fault): self = .answer(fault)
        case .endedEarly, .client, .other: self = .closed
        }
    }

    /// Whether another upstream may be asked the same: this one has seen nothing of it.
    var isBeforeRequest: Bool {
        switch self {
        case .unreachable, .connectTimedOut, .notTrusted: true
        case .timedOut, .closed, .malformed, .answer: false
        }
    }

    /// What the page reads; `X-Patchline-Proxy` tells it from an upstream's own 502.
    func answer(_ upstream: Upstream) -> FileAnswer {
        let host = upstream.authority
        let (status, name, text): (HTTPResponseStatus, String, String) =
            switch self {
            case .unreachable: (.badGateway, "unreachable", "\(host) cannot be reached.")
            case .connectTimedOut: (.gatewayTimeout, "timeout", "\(host) cannot be reached in time.")
            case .notTrusted: (.badGateway, "tls", "\(host) does not prove over TLS that it is \(host).")
            case .timedOut: (.gatewayTimeout, "timeout", "\(host) did not answer in time.")
            case .closed: (.badGateway, "closed", "\(host) ended the connection before its answer.")
            case .malformed: (.badGateway, "malformed", "\(host) did not answer in HTTP.")
            case .answer(let fault): (.badGateway, "malformed", "The answer of \(host) \(fault).")
            }
        let headers: HTTPHeaders = ["X-Patchline-Proxy": name, "Cache-Control": "no-store"]
        return .refused(status, message: text, headers: headers)
    }
}

extension UpstreamFault: CustomStringConvertible {
    /// For a line of a log, behind the upstream's origin.
    var description: String {
        switch self {
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
