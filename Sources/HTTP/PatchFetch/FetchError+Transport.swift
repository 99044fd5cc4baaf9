import PatchFormat

extension FetchError {
    /// Translates a transport error into a device's error.
    init(_ error: any Error, path: String, server: ServerURL, within time: Duration) async {
        let host = server.host
        switch TransportFault(error) {
        case .deadline: self = .timedOut(path)
        case .silent: self = .stalled(path)
        case .connectTimedOut: self = .connection(path, reason: "no connection to \(host) in time")
        case .handshakeTimedOut: self = .connection(path, reason: "no TLS handshake with \(host) in time")
        case .noConnection(let host, let port, _): self = .connection(path, reason: "cannot connect to \(host):\(port)")
        case .noAddress(let host): self = .noAddress(host: host)
        case .socket(let error): self = .connection(path, reason: "no connection to the server: \(error)")
        case .endedEarly(.closed), .endedEarly(.cut): self = .short(path)
        case .endedEarly(.channel): self = .connection(path, reason: "the connection to \(host) ended early")
        case .answer(let fault): self = .answer(path, fault)
        case .tls(.ended): self = .connection(path, reason: TransportFault.endedInHandshake)
        case .tls(let refusal): self = .tls(await TLSFault(refusal, of: server, within: time))
        case .malformed(let reason), .client(let reason), .other(let reason): self = .connection(path, reason: reason)
        }
    }
}
