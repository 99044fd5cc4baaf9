import AsyncHTTPClient
import HTTPFiles
import HTTPPeers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

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
        switch error as? HTTPClientError {
        case HTTPClientError.connectTimeout?, HTTPClientError.getConnectionFromPoolTimeout?: self = .connectTimedOut
        case HTTPClientError.tlsHandshakeTimeout?: self = .connectTimedOut
        case HTTPClientError.readTimeout?, HTTPClientError.writeTimeout?, HTTPClientError.deadlineExceeded?:
            self = .timedOut
        case .some: self = .closed
        case nil: self = Self.ofConnection(error)
        }
    }

    private static func ofConnection(_ error: any Error) -> UpstreamFault {
        switch error {
        case let error as NIOConnectionError:
            error.connectionErrors.allSatisfy({ ($0.error as? ChannelError)?.isConnectTimeout == true })
                && !error.connectionErrors.isEmpty ? .connectTimedOut : .unreachable
        case let error as ChannelError where error.isConnectTimeout: .connectTimedOut
        case let error as IOError: error.errnoCode == 104 || error.errnoCode == 32 ? .closed : .unreachable
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError, is ServerNameError: .notTrusted
        case is HTTPParserError: .malformed
        case let fault as AnswerFault: .answer(fault)
        default: .closed
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

extension ChannelError {
    fileprivate var isConnectTimeout: Bool {
        if case .connectTimeout = self { true } else { false }
    }
}
