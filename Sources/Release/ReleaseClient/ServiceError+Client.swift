import PatchFetch
import PatchFormat

extension ServiceError {
    /// Converts a transport error to one that the user of a build can act on.
    init(_ error: any Error, at path: String, of server: ServerURL) {
        if Task.isCancelled {
            self = .cancelled
            return
        }
        let (host, port) = (server.host, server.port)
        switch TransportFault(error) {
        case .deadline, .silent: self = .timedOut(path)
        case .connectTimedOut: self = .connection("no connection to \(host):\(port) in time")
        case .handshakeTimedOut: self = .connection("no TLS handshake with \(host) in time")
        case .noConnection: self = .connection("cannot connect to \(host):\(port)")
        case .noAddress: self = .connection("the name service has no address for \(host)")
        case .socket(let error): self = .connection("no connection to \(host):\(port): \(error)")
        case .answer(let fault): self = .answer(fault)
        case .tls(let refusal): self = .tls(host: host, reason: refusal.words)
        case .endedEarly: self = .connection("\(host) ended the connection before its answer")
        case .malformed(let reason), .client(let reason), .other(let reason): self = .connection("\(host): \(reason)")
        }
    }
}

extension TransportFault.TLSRefusal {
    var words: String {
        switch self {
        case .otherName: "its certificate is for another name"
        case .notVerified: "its certificate is not from a trusted authority"
        case .notTLS: "it does not speak TLS"
        case .ended: "the handshake failed"
        case .fault(let fault): fault.description
        case .handshake(let reason): reason
        }
    }
}
