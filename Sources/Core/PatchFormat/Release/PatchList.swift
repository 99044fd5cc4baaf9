/// The versions that a channel offers, as read from an unverified list.
package struct PatchList: Hashable, Sendable {
    package static let format = "patchline-list-v1"

    package let app: AppID
    package let channel: ChannelName
    /// A number for people; the version of the channel role decides which list is newer.
    package let serial: Int
    package let published: UTCTime
    /// The entries in list order.
    ///
    /// The versions of one id are sorted newest first.
    package let entries: [PatchEntry]
    /// The versions that were withdrawn by name.
    ///
    /// The entries do not contain them.
    package let withdrawn: [WithdrawnVersion]
    /// The packages for JSPatch's clients.
    ///
    /// Servers use them and devices ignore them.
    package let gateways: [GatewayPackages]

    package init(
        app: AppID,
        channel: ChannelName,
        serial: Int,
        published: UTCTime,
        entries: [PatchEntry],
        withdrawn: [WithdrawnVersion] = [],
        gateways: [GatewayPackages] = []
    ) {
        self.app = app
        self.channel = channel
        self.serial = serial
        self.published = published
        self.entries = entries
        self.withdrawn = withdrawn
        self.gateways = gateways
    }

    /// The contents that were withdrawn by name, by patch.
    package var withdrawnContents: [PatchID: Set<SHA256Digest>] {
        Dictionary(withdrawn.map { ($0.patchID, [$0.sha256]) }) { $0.union($1) }
    }

    package var json: JSON {
        .fields([
            ("format", .text(Self.format)), ("app", .text(app.text)), ("channel", .text(channel.text)),
            ("serial", .integer(serial)), ("published", .text(published.description)),
            ("patches", .array(entries.map(\.json))),
            ("withdrawn", withdrawn.isEmpty ? nil : .array(withdrawn.map(\.json))),
            (GatewayPackages.key, gateways.isEmpty ? nil : .array(gateways.map(\.json))),
        ])
    }
}

/// One row of a patch list.
package struct PatchEntry: Hashable, Sendable {
    package let patchID: PatchID
    package let kind: PatchKind
    package let version: VersionLabel
    /// The download path below `/APP/`, which any reader can GET.
    package let url: String
    package let fingerprint: Fingerprint
    package let signature: EntrySignature
    /// 16 bytes that make this version's cohorts independent of all others.
    package let salt: [UInt8]
    /// The required patches, each with the contents of which one must be installed together with this entry.
    package let requires: [PatchID: [SHA256Digest]]
    package let rules: PatchRules
    /// Set for a version that fixes a security hole.
    package let security: SecurityAdvisory?
    /// Where a script runs; the default for a bundle.
    package let place: ScriptPlace
    /// The signatures for clients that use JSPatch's own format.
    ///
    /// Devices ignore them.
    package let jspatch: JSPatchForm?
    /// The gateways that serve the entry to other clients.
    ///
    /// Devices ignore them.
    package let gateways: [Gateway]

    package init(
        patchID: PatchID,
        kind: PatchKind,
        version: VersionLabel,
        url: String,
        fingerprint: Fingerprint,
        signature: EntrySignature,
        salt: [UInt8],
        requires: [PatchID: [SHA256Digest]] = [:],
        rules: PatchRules,
        security: SecurityAdvisory? = nil,
        place: ScriptPlace = .host,
        jspatch: JSPatchForm? = nil,
        gateways: [Gateway] = []
    ) {
        self.patchID = patchID
        self.kind = kind
        self.version = version
        self.url = url
        self.fingerprint = fingerprint
        self.signature = signature
        self.salt = salt
        self.requires = requires
        self.rules = rules
        self.security = security
        self.place = place
        self.jspatch = jspatch
        self.gateways = gateways
    }

    package var json: JSON {
        let members: [(String, JSON?)] = [
            ("patchId", .text(patchID.text)), ("kind", .text(kind.rawValue)), ("version", .text(version.text)),
            ("url", .text(url)),
        ]
        let requirement = requires.sorted { $0.key < $1.key }
            .map { ($0.key.text, Optional(JSON.array($0.value.map { .text($0.hex) }))) }
        let rest: [(String, JSON?)] = [
            ("signature", signature.json), ("salt", .text(Hex.text(salt))),
            ("requires", requires.isEmpty ? nil : .fields(requirement)), ("rules", rules.json),
            ("security", security?.json), ("jspatch", jspatch?.json), ("gateways", gateways.json),
        ]
        return .fields(members + fingerprint.members + rest + place.members)
    }

    package var label: Label { Label(patchID: patchID, version: version) }

    package func statement(app: AppID, channel: ChannelName) -> [UInt8] {
        Statement.patch(
            app: app,
            channel: channel,
            patchID: patchID,
            kind: kind,
            version: version,
            fingerprint: fingerprint
        )
    }
}

/// An RSASSA-PKCS1-v1_5 signature with SHA-256 over an entry's statement, and the key that made it.
package struct EntrySignature: Hashable, Sendable {
    package let keyID: SHA256Digest
    package let bytes: [UInt8]

    package init(keyID: SHA256Digest, bytes: [UInt8]) {
        self.keyID = keyID
        self.bytes = bytes
    }

    package var json: JSON {
        .fields([
            ("keyid", .text(keyID.hex)), ("scheme", .text(Statement.scheme)), ("sig", .text(Base64.text(bytes))),
        ])
    }

    package init(_ fields: Fields) throws(FormatError) {
        keyID = try fields.digest("keyid")
        try fields.constant("scheme", Statement.scheme)
        guard let bytes = Base64.bytes(try fields.string("sig")), (256...1_024).contains(bytes.count) else {
            throw fields.broken("sig", "must be padded base64 of 256 to 1,024 bytes")
        }
        self.bytes = bytes
    }
}

/// The signatures that JSPatch's loader verifies, over the hex characters of an entry's MD5 and SHA-1.
package struct JSPatchForm: Hashable, Sendable {
    package let keyID: SHA256Digest
    package let md5: [UInt8]
    package let sha1: [UInt8]

    package init(keyID: SHA256Digest, md5: [UInt8], sha1: [UInt8]) {
        self.keyID = keyID
        self.md5 = md5
        self.sha1 = sha1
    }

    package var json: JSON {
        .fields([
            ("keyid", .text(keyID.hex)), ("md5", .text(Base64.text(md5))), ("sha1", .text(Base64.text(sha1))),
        ])
    }

    package init(_ fields: Fields) throws(FormatError) {
        func signature(_ key: String) throws(FormatError) -> [UInt8] {
            guard let bytes = Base64.bytes(try fields.string(key)), (256...1_024).contains(bytes.count) else {
                throw fields.broken(key, "must be padded base64 of 256 to 1,024 bytes")
            }
            return bytes
        }
        keyID = try fields.digest("keyid")
        md5 = try signature("md5")
        sha1 = try signature("sha1")
    }
}
