package import PatchFormat
import PatchTrust

/// Who may ask the API, as the server remembers it: never the secret, only its digest.
package struct AccessToken: Equatable, Sendable {
    package static let collection = "token"

    /// 16 hex digits; it stands in logs and in the audit log.
    package let id: String
    /// What people call it: `ci of the shop`.
    package let name: String
    let secretDigest: SHA256Digest
    package let grants: [AccessGrant]
    package let created: UTCTime
    package let createdBy: String
    package let expires: UTCTime
    package private(set) var revoked: UTCTime?

    package enum Standing: Equatable, Sendable {
        case valid, expired, revoked
    }

    package func standing(at now: UTCTime) -> Standing {
        if revoked != nil { return .revoked }
        return now < expires ? .valid : .expired
    }

    package func revoked(at now: UTCTime) -> AccessToken {
        var token = self
        token.revoked = revoked ?? now
        return token
    }

    /// No token holds longer.
    package static let longest = Duration.days(366)
    package static let nameRule = "must be one line of 1 to 100 bytes"

    package static func isName(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count)
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    package var key: RecordKey { RecordKey(Self.collection, id) }
}

/// The text of a token, which is shown once and kept by whoever it is for.
package struct TokenText: Sendable {
    /// So that a scanner of repositories knows one when it sees it.
    static let prefix = "plt_"

    package let id: String
    let secret: [UInt8]

    /// Nil unless it could have been made here; says nothing of whether it was.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count).split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 16, parts[1].utf8.count == 64,
            let secret = Hex.bytes(String(parts[1])), Hex.bytes(String(parts[0])) != nil
        else { return nil }
        id = String(parts[0])
        self.secret = secret
    }

    private init(id: String, secret: [UInt8]) {
        self.id = id
        self.secret = secret
    }

    package var text: String { "\(Self.prefix)\(id)_\(Hex.text(secret))" }

    /// A new token and its text.
    package static func make(
        name: String,
        grants: [AccessGrant],
        by creator: String,
        at now: UTCTime,
        expires: UTCTime
    ) -> (token: AccessToken, text: TokenText) {
        let text = TokenText(id: Hex.text(SecureRandom.bytes(8)), secret: SecureRandom.bytes(32))
        let token = AccessToken(
            id: text.id,
            name: name,
            secretDigest: SHA256Digest(of: text.secret),
            grants: grants,
            created: now,
            createdBy: creator,
            expires: expires
        )
        return (token, text)
    }

    /// Whether this is the token's own text; takes as long for a wrong one.
    package func belongs(to token: AccessToken) -> Bool {
        let difference = zip(SHA256Digest(of: secret).bytes, token.secretDigest.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) }
        return difference == 0 && id == token.id
    }
}

extension AccessToken {
    package init(_ record: Record) throws(RecordError) {
        do throws(FormatError) {
            let fields = try Fields(record.value, of: "token")
            try fields.constant("format", "patchline-token-v1")
            id = record.key.name
            name = try fields.string("name")
            secretDigest = try fields.digest("secretSHA256")
            var grants: [AccessGrant] = []
            for text in try fields.strings("grants", limit: 1_000) {
                guard let grant = AccessGrant(text) else { throw fields.broken("grants", "must hold APP=ROLE") }
                grants.append(grant)
            }
            self.grants = grants
            created = try fields.time("created")
            createdBy = try fields.string("createdBy")
            expires = try fields.time("expires")
            revoked = fields.has("revoked") ? try fields.time("revoked") : nil
        } catch { throw .malformed(record.key, rule: error.description) }
    }

    package var value: JSON {
        .fields([
            ("format", .text("patchline-token-v1")), ("name", .text(name)), ("secretSHA256", .text(secretDigest.hex)),
            ("grants", .array(grants.map { .text($0.description) })), ("created", .text(created.description)),
            ("createdBy", .text(createdBy)), ("expires", .text(expires.description)),
            ("revoked", revoked.map { .text($0.description) }),
        ])
    }

    /// What others may see of it.
    package func json(at now: UTCTime) -> JSON {
        .fields([
            ("id", .text(id)), ("name", .text(name)), ("grants", .array(grants.map { .text($0.description) })),
            ("created", .text(created.description)), ("createdBy", .text(createdBy)),
            ("expires", .text(expires.description)), ("revoked", revoked.map { .text($0.description) }),
            ("state", .text("\(standing(at: now))")),
        ])
    }
}
