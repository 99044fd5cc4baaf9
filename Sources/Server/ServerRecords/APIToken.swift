package import PatchFormat
import PatchCrypto

/// A token of the API as the server stores it, with a digest in place of the secret.
package struct APIToken: Equatable, Sendable {
    package static let collection = "token"

    /// The identifier, 16 hex digits.
    ///
    /// It is written to logs and to the audit log.
    package let id: String
    /// The name chosen by an operator: `ci of the shop`.
    package let name: String
    let secretDigest: SHA256Digest
    package let grants: [AccessGrant]
    package let created: UTCTime
    package let createdBy: String
    package let expires: UTCTime
    package private(set) var revoked: UTCTime?

    package enum Status: Equatable, Sendable {
        case valid, expired, revoked
    }

    package func status(at now: UTCTime) -> Status {
        if revoked != nil { return .revoked }
        return now < expires ? .valid : .expired
    }

    package func revoked(at now: UTCTime) -> APIToken {
        var token = self
        token.revoked = revoked ?? now
        return token
    }

    /// The longest validity of a token.
    package static let longest = Duration.days(366)
    package static let nameLimit = 100

    package var key: RecordKey { RecordKey(Self.collection, id) }

    private static let format = "patchline-token-v1"
    /// The format of a token that is limited to a channel.
    ///
    /// An earlier server rejects the whole record, so it never admits such a token to all channels.
    private static let limitedFormat = "patchline-token-v2"

    private var isLimited: Bool { grants.contains { $0.scope.channel != nil } }
}

extension APIToken {
    package init(_ record: Record) throws(RecordError) {
        do throws(FormatError) {
            let fields = try Fields(record.value, of: "token")
            let format = try fields.string("format")
            guard format == Self.format || format == Self.limitedFormat else {
                throw fields.broken("format", "must be \(Self.format) or \(Self.limitedFormat)")
            }
            id = record.key.name
            name = try fields.string("name")
            secretDigest = try fields.digest("secretSHA256")
            var grants: [AccessGrant] = []
            for text in try fields.strings("grants", limit: 1_000) {
                guard let grant = AccessGrant(text) else { throw fields.broken("grants", AccessGrant.rule) }
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
            ("format", .text(isLimited ? Self.limitedFormat : Self.format)), ("name", .text(name)),
            ("secretSHA256", .text(secretDigest.hex)),
            ("grants", .array(grants.map { .text($0.description) })), ("created", .text(created.description)),
            ("createdBy", .text(createdBy)), ("expires", .text(expires.description)),
            ("revoked", revoked.map { .text($0.description) }),
        ])
    }

    /// The public fields of the token.
    package func json(at now: UTCTime) -> JSON {
        .fields([
            ("id", .text(id)), ("name", .text(name)), ("grants", .array(grants.map { .text($0.description) })),
            ("created", .text(created.description)), ("createdBy", .text(createdBy)),
            ("expires", .text(expires.description)), ("revoked", revoked.map { .text($0.description) }),
            ("state", .text("\(status(at: now))")),
        ])
    }
}
