import PatchFormat

/// A key on a PKCS#11 token as a URI of RFC 7512: `pkcs11:token=release;object=production?module-path=/…/module.so`.
///
/// It must name the token and the key. A PIN in it is rejected, because other users of the machine can read the command line.
package struct TokenURI: Hashable, Sendable, CustomStringConvertible {
    package static let scheme = "pkcs11:"

    /// The part before the question mark, which the engine receives and messages contain.
    package let path: String
    /// The label that the token must have.
    package let token: String?
    package let modulePath: String?

    package var description: String { path }

    package init(_ text: String) throws(TokenError) {
        guard text.hasPrefix(Self.scheme) else { throw .uri("must begin with pkcs11:") }
        let parts = text.dropFirst(Self.scheme.count).split(
            separator: "?",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        let path = try Self.attributes(parts[0], separator: ";", known: Self.pathAttributes)
        let query = parts.count > 1 ? try Self.attributes(parts[1], separator: "&", known: ["module-path"]) : [:]
        guard path["token"] != nil || path["serial"] != nil || path["slot-id"] != nil else {
            throw .uri("names no token; give token=, serial= or slot-id=")
        }
        guard path["object"] != nil || path["id"] != nil else { throw .uri("names no key; give object= or id=") }
        if let type = path["type"], type != "private" { throw .uri("must name a private key, not type=\(type)") }
        self.path = Self.scheme + parts[0]
        token = path["token"]
        modulePath = query["module-path"]
    }

    /// The part of a rejected URI that an error may quote: everything before a query or a PIN.
    package static func withoutSecrets(_ text: String) -> String {
        let bare = text.prefix { $0 != "?" }
        let parts = bare.split(separator: ";", omittingEmptySubsequences: false)
        return parts.prefix { !$0.contains("pin-") }.joined(separator: ";")
    }

    private static let pathAttributes: Set<String> = [
        "token", "manufacturer", "serial", "model", "slot-id", "object", "id", "type",
    ]

    private static func attributes(
        _ text: Substring,
        separator: Character,
        known: Set<String>
    ) throws(TokenError) -> [String: String] {
        var found: [String: String] = [:]
        for part in text.split(separator: separator, omittingEmptySubsequences: false) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(pair[0])
            guard name != "pin-value", name != "pin-source" else {
                throw .uri("must not contain \(name); give the PIN with --pin-file or --pin-env")
            }
            guard known.contains(name) else { throw .uri("has the unknown attribute '\(name)'") }
            guard pair.count == 2, let value = decoded(pair[1]), !value.isEmpty else {
                throw .uri("has no readable value for \(name)")
            }
            guard found.updateValue(value, forKey: name) == nil else { throw .uri("has \(name) twice") }
        }
        return found
    }

    /// Decodes percent-encoding.
    ///
    /// `id` contains bytes; only its encoding is checked.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                guard (0x21...0x7E).contains(byte) else { return nil }
                bytes.append(byte)
                continue
            }
            guard let digits = String(rest.prefix(2))?.lowercased(), let value = Hex.bytes(digits), value.count == 1
            else { return nil }
            bytes += value
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Why a key on a token cannot be used.
package enum TokenError: Error, Equatable, Sendable {
    case uri(String)
    /// The PKCS#11 module was not specified.
    case unnamedModule
    /// The file does not exist, or is not a PKCS#11 module.
    case noModule(String)
    /// libcrypto has no engine "pkcs11".
    case noEngine
    case noToken(String, present: [String])
    /// The token exists but does not contain the key.
    case noKey
    case needsPIN
    case wrongPIN
    case lockedPIN
    case key(KeyError)
    case failed(String)
}

extension TokenError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .uri(let rule): rule
        case .unnamedModule: "needs a PKCS#11 module"
        case .noModule(let path): "needs \(path), which does not exist or is not a PKCS#11 module"
        case .noEngine: "needs OpenSSL's engine pkcs11, which is not installed"
        case .noToken(let label, let present):
            "is on token '\(label)', which is not present; "
                + (present.isEmpty ? "no token is" : "present: \(present.map { "'\($0)'" }.joined(separator: ", "))")
        case .noKey: "is not on its token"
        case .needsPIN: "needs the token's PIN"
        case .wrongPIN: "does not open with this PIN"
        case .lockedPIN: "is on a token whose PIN is locked"
        case .key(let error): error.description
        case .failed(let why): "cannot be used: \(why)"
        }
    }
}
