import AsyncHTTPClient
package import HTTPCore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
package import SystemPackage

/// A fault on the network path to a server or back, regardless of the library that threw it.
///
/// Only this type interprets errors of the HTTP client, of sockets and of TLS. Each caller words them for its readers.
package enum TransportFault: Error, Equatable, Sendable {
    /// Not complete within the caller's deadline.
    case deadline
    /// No bytes were received, or none were accepted, for the allowed time.
    case silent(Direction)
    /// There is no connection within the time limit. Nothing of the request was sent.
    case connectTimedOut
    /// There is no TLS handshake within the time limit. Nothing of the request was sent.
    case handshakeTimedOut
    /// No address of the host accepted the connection.
    case noConnection(host: String, port: Int, withinDeadline: Bool)
    /// The name service has no address of the host, or does not answer. Nothing was sent.
    case noAddress(host: String)
    /// The socket's error.
    case socket(Errno)
    /// The server is not the expected one, or does not speak TLS. Nothing of the request was sent.
    case tls(TLSRefusal)
    /// The connection ended before the answer did.
    case endedEarly(End)
    /// The answer is not HTTP.
    case malformed(String)
    /// An answer that HTTP does not allow.
    case answer(AnswerFault)
    /// Any other error of the connection, in the client's words.
    case client(String)
    /// An unknown error.
    case other(String)

    package enum Direction: Equatable, Sendable {
        case reading, writing
    }

    package enum End: Equatable, Sendable {
        /// Between two pieces of an answer.
        case closed
        /// Within a piece of an answer.
        case cut
        /// The channel was closed while the client used it.
        case channel
    }

    /// Why there is no TLS connection.
    package enum TLSRefusal: Equatable, Sendable {
        /// The certificate is for other names.
        case otherName
        /// The certificate is not issued by a trusted authority, or is not valid at this time.
        case notVerified
        case notTLS
        /// The connection ended during the handshake.
        case ended
        /// One of our own rules refused the server.
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

    /// Interprets an error of the layers below the client.
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
            self = .noConnection(host: error.host, port: error.port, withinDeadline: !error.hasTimedOut)
        case is ServerNameError: self = .tls(.otherName)
        case let error as NIOSSLExtraError: self = .tls(error == .failedToValidateHostname ? .otherName : .ended)
        case let fault as TLSFault: self = .tls(.fault(fault))
        case NIOSSLError.handshakeFailed(.sslError(let stack)):
            self = .tls(TLSRefusal(stack.map(\.description).joined(separator: " ")))
        case is NIOSSLError, is BoringSSLError: self = .tls(.ended)
        default: self = .other("\(error)")
        }
    }

    /// Whether nothing of the request was sent, so that another server may receive the same request.
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
    /// Interprets the TLS library's text.
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
    /// Whether all addresses of the host failed to answer in time.
    fileprivate var hasTimedOut: Bool {
        !connectionErrors.isEmpty
            && connectionErrors.allSatisfy { ($0.error as? ChannelError)?.isConnectTimeout == true }
    }
}
