package import PatchFormat

/// Why a device does not talk to a server, although there is one.
package enum TLSFault: Error, Equatable, Sendable {
    /// The certificate is for other names.
    case wrongHostName(host: String)
    /// Nobody whom the device trusts vouches for the certificate.
    case unknownIssuer(host: String)
    case expired(host: String, at: UTCTime)
    case notYetValid(host: String, until: UTCTime)
    /// What answers there does not speak TLS.
    case notTLS(host: String)
    /// A good certificate, of another key than the pinned ones.
    case pinMismatch(found: PublicKeyPin)
    /// Pins or an own authority are set, and the URL is `http://`.
    case notEncrypted(host: String)
    /// The own authority's file holds no certificate.
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
        case .notEncrypted(let host): "\(host) is asked without TLS, although its key or authority is set"
        case .noAuthority: "no certificate of an authority in PEM"
        case .handshake(let host, let reason): "no TLS with \(host): \(reason)"
        }
    }
}

extension TLSFault {
    /// Asks the server for its certificates once more where the TLS library did not say what is wrong with them.
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

    /// What is wrong with a chain that the TLS library did not take, without saying why.
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
