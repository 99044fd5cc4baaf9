package import PatchFormat

/// Why a device refuses to use a server that it can reach.
package enum TLSFault: Error, Equatable, Sendable {
    /// The certificate is for other names.
    case wrongHostName(host: String)
    /// The certificate is not issued by an authority that the device trusts.
    case unknownIssuer(host: String)
    case expired(host: String, at: UTCTime)
    case notYetValid(host: String, until: UTCTime)
    /// The server does not speak TLS.
    case notTLS(host: String)
    /// A valid certificate with a key that is not pinned.
    case pinMismatch(found: PublicKeyPin)
    /// Pins or an own authority are configured, but the URL is `http://`.
    case notEncrypted(host: String)
    /// The own authority's file contains no certificate.
    case noAuthority
    case handshake(host: String, reason: String)
}

extension TLSFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .wrongHostName(let host): "the certificate of \(host) is for another name"
        case .unknownIssuer(let host):
            "the certificate of \(host) is not signed by an authority that this device trusts"
        case .expired(let host, let time): "the certificate of \(host) expired at \(time)"
        case .notYetValid(let host, let time): "the certificate of \(host) is not valid before \(time)"
        case .notTLS(let host): "\(host) does not speak TLS"
        case .pinMismatch(let found): "the server has another key than the pinned ones: \(found)"
        case .notEncrypted(let host): "\(host) is contacted without TLS, although its key or authority is set"
        case .noAuthority: "no certificate of an authority in PEM"
        case .handshake(let host, let reason): "no TLS with \(host): \(reason)"
        }
    }
}

extension TLSFault {
    /// Requests the server's certificates again if the TLS library did not report the reason for its refusal.
    init(_ refusal: TransportFault.TLSRefusal, of server: ServerURL, within time: Duration) async {
        let host = server.host
        switch refusal {
        case .fault(let fault): self = fault
        case .otherName: self = .wrongHostName(host: host)
        case .notVerified:
            let chain = await PeerChain.shown(by: server, within: time)
            self = TLSFault(refused: chain, host: host, now: PeerChain.now)
        case .notTLS: self = .notTLS(host: host)
        case .ended: self = .handshake(host: host, reason: TransportFault.endedInHandshake)
        case .handshake(let reason): self = .handshake(host: host, reason: reason)
        }
    }

    /// Determines the fault of a chain that the TLS library refused without a reason.
    init(refused chain: [PeerChain.Validity], host: String, now: UTCTime) {
        if let expired = chain.first(where: { $0.end < now }) {
            self = .expired(host: host, at: expired.end)
        } else if let early = chain.first(where: { now < $0.begin }) {
            self = .notYetValid(host: host, until: early.begin)
        } else {
            self = .unknownIssuer(host: host)
        }
    }
}
