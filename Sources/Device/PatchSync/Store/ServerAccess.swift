package import PatchFetch
package import PatchFormat

/// How a device reaches its servers, besides the URL of the first one.
///
/// Members of `config.json`, all optional: `mirrors`, `ca` (PEM, so that the store needs no other file) and `pins`.
package struct ServerAccess: Equatable, Sendable {
    package static let mirrorsLimit = 16
    package static let pinsLimit = 16

    /// The servers to ask after the first one, in this order.
    package var mirrors: [ServerURL] = []
    /// The certificate authorities in PEM that replace the system's roots.
    package var authorities: String?
    /// The pinned keys.
    ///
    /// A server must have one of them.
    package var pins: [PublicKeyPin] = []

    package init() {}

    /// - Throws: `noAuthority` if the PEM contains no certificate.
    package func trust() throws(TLSFault) -> TLSTrust {
        try TLSTrust(authorities: authorities.map { Array($0.utf8) }, pins: Set(pins))
    }

    /// Rejects settings that cannot work or would be ignored: pins and authorities require `https://`.
    package func check(_ server: ServerURL) throws(TLSFault) {
        guard try trust().needsTLS else { return }
        if let plain = ([server] + mirrors).first(where: { !$0.isSecure }) { throw .notEncrypted(host: plain.host) }
    }

    init(_ fields: Fields) throws(FormatError) {
        if fields.has("mirrors") {
            mirrors = try fields.array("mirrors", limit: Self.mirrorsLimit).mapped { value throws(FormatError) in
                guard case .string(let text) = value, let url = ServerURL(text.text) else {
                    throw fields.broken("mirrors", ServerURL.rule)
                }
                return url
            }
        }
        if fields.has("pins") {
            pins = try fields.array("pins", limit: Self.pinsLimit).mapped { value throws(FormatError) in
                guard case .string(let text) = value, let pin = PublicKeyPin(text.text) else {
                    throw fields.broken("pins", PublicKeyPin.rule)
                }
                return pin
            }
        }
        authorities = try fields.optionalString("ca")
    }

    var members: [(String, JSON?)] {
        [
            ("mirrors", mirrors.isEmpty ? nil : .array(mirrors.map { .text($0.text) })),
            ("ca", authorities.map { .text($0) }),
            ("pins", pins.isEmpty ? nil : .array(pins.map { .text($0.description) })),
        ]
    }
}

extension Array {
    /// `map` that keeps the type of its error, which the standard one loses in a closure of several statements.
    fileprivate func mapped<Value, Failure: Error>(
        _ transform: (Element) throws(Failure) -> Value
    ) throws(Failure) -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try transform(element)) }
        return values
    }
}
