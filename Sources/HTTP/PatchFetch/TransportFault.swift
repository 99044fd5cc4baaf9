import AsyncHTTPClient
package import HTTPPeers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
package import SystemPackage

/// A fault on the way to a server or back, whatever library threw it.
///
/// The one place where errors of the HTTP client, of sockets and of TLS are told apart; each caller words them for its
/// readers.
package enum TransportFault: Error, Equatable, Sendable {
    /// Not done within the caller's deadline.
    case deadline
    /// No bytes came, or none were taken, for the time allowed.
    case silent(Direction)
    /// No connection in time; nothing of the request was sent.
    case connectTimedOut
    /// No TLS handshake in time; nothing of the request was sent.
    case handshakeTimedOut
    /// No address of the host took the connection.
    case noConnection(host: String, port: Int, inTime: Bool)
    /// The name service knows no address of the host, or does not answer; nothing was sent to anybody.
    case noAddress(host: String)
    /// The socket's error.
    case socket(Errno)
    /// The server is not the expected one, or does not speak TLS; nothing of the request was sent.
    case tls(TLSRefusal)
    /// The connection ended before the answer did.
    case endedEarly(End)
    /// The answer is not HTTP.
    case malformed(String)
    /// An answer that no server may give.
    case answer(AnswerFault)
    /// Any other error of the connection, as the client words it.
    case client(String)
    /// An unknown error.
    case other(String)

    package enum Direction: Equatable, Sendable {
        case reading, writing
    }

    package enum End: Equatable, Sendable {
        /// Between the pieces of an answer.
        case closed
        /// Within one.
        case cut
        /// Under the client's hands.
        case channel
    }

    /// Why there is no TLS connection.
    package enum TLSRefusal: Equatable, Sendable {
        /// The certificate is for other names.
        case otherName
        /// No trusted authority vouches for the certificate, or not at this time.
        case notVerified
        case notTLS
        /// The connection ended in the handshake.
        case ended
        /// A rule of our own refused the server.
        case fault(TLSFault)
        case handshake(String)
    }

    package init(_ error: any Error) {
        switch error as? HTTPClientError {
        case HTTPClientError.deadlineExceeded?: self = .deadline
        case HTTPClientError.readTimeout?: self = .silent(.reading)
        case HTTPClientError.writeTimeout?: self = .silent(.writing)
        case HTTPClientError.connectTimeout?, HTTPClientError.getConnectionFromPoolTimeout?: self = .connectTimedOut
        case HTTPClientError.tlsHandshakeTimeout?: self = .handshakeTimedOut
        case HTTPClientError.remoteConnectionClosed?: self = .endedEarly(.closed)
        case let error?: self = .client(error.shortDescription)
        case nil: self.init(below: error)
        }
    }

    /// Of the layers below the client.
    private init(below error: any Error) {
        switch error {
        case let fault as TransportFault: self = fault
        case let fault as AnswerFault: self = .answer(fault)
        case HTTPParserError.invalidEOFState: self = .endedEarly(.cut)
        case let error as HTTPParserError: self = .malformed("\(error)")
        case let error as IOError: self = .socket(Errno(rawValue: error.errnoCode))
        case let error as ChannelError: self = error.isConnectTimeout ? .connectTimedOut : .endedEarly(.channel)
        case let error as NIOConnectionError where error.connectionErrors.isEmpty: self = .noAddress(host: error.host)
        case let error as NIOConnectionError:
            self = .noConnection(host: error.host, port: error.port, inTime: !error.hasTimedOut)
        case is ServerNameError: self = .tls(.otherName)
        case let error as NIOSSLExtraError: self = .tls(error == .failedToValidateHostname ? .otherName : .ended)
        case let fault as TLSFault: self = .tls(.fault(fault))
        case NIOSSLError.handshakeFailed(.sslError(let stack)):
            self = .tls(TLSRefusal(stack.map(\.description).joined(separator: " ")))
        case is NIOSSLError, is BoringSSLError: self = .tls(.ended)
        default: self = .other("\(error)")
        }
    }

    /// Whether nothing of the request was sent, so that another server may be asked the same.
    package var isBeforeRequest: Bool {
        switch self {
        case .connectTimedOut, .handshakeTimedOut, .noConnection, .noAddress, .tls: true
        case .socket(let error): error != .connectionReset && error != .brokenPipe
        case .deadline, .silent, .endedEarly, .malformed, .answer, .client, .other: false
        }
    }
}

extension TransportFault {
    static let endedInHandshake = "the connection ended in the TLS handshake"
}

extension TransportFault.TLSRefusal {
    /// From the TLS library's text.
    fileprivate init(_ text: String) {
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            self = .notVerified
        } else if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") {
            self = .notTLS
        } else if text.contains("EOF during handshake") || text.isEmpty {
            self = .ended
        } else {
            self = .handshake(text)
        }
    }
}

extension ChannelError {
    fileprivate var isConnectTimeout: Bool {
        if case .connectTimeout = self { true } else { false }
    }
}

extension NIOConnectionError {
    /// Every address of the host kept silent.
    fileprivate var hasTimedOut: Bool {
        !connectionErrors.isEmpty
            && connectionErrors.allSatisfy { ($0.error as? ChannelError)?.isConnectTimeout == true }
    }
}
