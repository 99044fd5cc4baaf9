import AsyncHTTPClient
import HTTPPeers
import NIOCore
import NIOPosix
import NIOSSL
import PatchFormat
import SystemPackage

extension ServiceError {
    /// What the HTTP client throws, in our words.
    init(_ error: any Error, at path: String, of server: ServerURL) {
        if Task.isCancelled {
            self = .cancelled
            return
        }
        switch error as? HTTPClientError {
        case HTTPClientError.deadlineExceeded?, HTTPClientError.readTimeout?, HTTPClientError.writeTimeout?:
            self = .timedOut(path)
        case HTTPClientError.connectTimeout?, HTTPClientError.getConnectionFromPoolTimeout?:
            self = .connection("no connection to \(server.host) in time")
        case HTTPClientError.tlsHandshakeTimeout?: self = .connection("no TLS handshake with \(server.host) in time")
        case let error?: self = .connection("\(server.host): \(error.shortDescription)")
        case nil:
            if let fault = error as? AnswerFault {
                self = .answer(fault)
            } else if error is ServerNameError || error as? NIOSSLExtraError == .failedToValidateHostname {
                self = .tls(host: server.host, reason: "its certificate is for another name")
            } else if error is NIOConnectionError {
                self = .connection("cannot connect to \(server.host):\(server.port)")
            } else if let error = error as? IOError {
                self = .connection("no connection to \(server.host): \(Errno(rawValue: error.errnoCode))")
            } else if let error = error as? NIOSSLError {
                self = .tls(host: server.host, reason: Self.reason(error))
            } else if error is BoringSSLError {
                self = .tls(host: server.host, reason: "the handshake failed")
            } else {
                self = .connection("\(server.host): \(error)")
            }
        }
    }

    private static func reason(_ error: NIOSSLError) -> String {
        let text = "\(error)"
        if text.contains("CERTIFICATE_VERIFY_FAILED") { return "nobody who is trusted vouches for its certificate" }
        if text.contains("WRONG_VERSION_NUMBER") { return "it does not speak TLS" }
        return text
    }
}
