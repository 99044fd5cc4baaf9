import AsyncHTTPClient
import HTTPPeers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PatchFormat
import SystemPackage

extension FetchError {
    /// What the HTTP client throws, in our words.
    init(_ error: any Error, path: String, server: ServerURL?, within time: Duration) async {
        let host = server?.host ?? ""
        switch error as? HTTPClientError {
        case HTTPClientError.deadlineExceeded?: self = .timedOut(path)
        case HTTPClientError.readTimeout?: self = .stalled(path)
        case HTTPClientError.connectTimeout?, HTTPClientError.getConnectionFromPoolTimeout?:
            self = .connection(path, reason: "no connection to \(host) in time")
        case HTTPClientError.tlsHandshakeTimeout?:
            self = .connection(path, reason: "no TLS handshake with \(host) in time")
        case HTTPClientError.remoteConnectionClosed?: self = .short(path)
        case let error?: self = .connection(path, reason: error.shortDescription)
        case nil:
            if let fault = error as? AnswerFault {
                self = .answer(path, fault)
            } else if case HTTPParserError.invalidEOFState? = error as? HTTPParserError {
                self = .short(path)
            } else if let error = error as? IOError {
                self = .connection(path, reason: "no connection to the server: \(Errno(rawValue: error.errnoCode))")
            } else if error is ChannelError {
                self = .connection(path, reason: "the connection to \(host.isEmpty ? "the server" : host) ended early")
            } else if let error = error as? NIOConnectionError {
                self = .connection(path, reason: "cannot connect to \(error.host):\(error.port)")
            } else if let server, let fault = await TLSFault(error, server: server, within: time) {
                self = .tls(fault)
            } else if error is NIOSSLError || error is BoringSSLError {
                self = .connection(path, reason: "the connection ended in the TLS handshake")
            } else {
                self = .connection(path, reason: "\(error)")
            }
        }
    }
}
