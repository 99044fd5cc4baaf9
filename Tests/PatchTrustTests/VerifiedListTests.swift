import PatchFormat
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

@Suite("A verified list")
struct VerifiedListTests {
    static func role(_ name: String = "2.production.json") throws -> TargetsRole {
        try TargetsRole(
            try Envelope(try Vectors.bytes("tuf/\(name)"), role: "production", limit: 1_000_000),
            name: "production"
        )
    }

    static func sample() throws -> JSON { try Vectors.json("patch-list/patchlist.json") }

    /// The list as a channel role that names exactly these bytes would offer it.
    static func verify(_ list: JSON, for name: AppID = app, channel: ChannelName = production, role: TargetsRole? = nil)
        throws -> VerifiedList
    {
        let bytes = list.fileBytes
        return try VerifiedList(
            bytes,
            for: name,
            channel: channel,
            file: TargetFile(of: bytes),
            role: try role ?? Self.role()
        )
    }

    static func faults(_ list: JSON) throws -> [EntryFault] { try verify(list).refused.map(\.fault) }

    @Test func `holds every entry of the vector`() throws {
        let list = try Self.verify(try Self.sample())
        #expect(list.refused == [] && list.entries == list.list.entries && list.entries.count == 3)
        #expect(list.roleVersion == 2 && list.entryKeys.keys.count == 1)
    }

    @Test func `is of the bytes that the role names`() throws {
        let bytes = try Vectors.bytes("patch-list/patchlist.json")
        let file = TargetFile(of: bytes)
        let name = "production/patchlist.json"
        #expect(throws: TrustError.wrongDigest(name: name, algorithm: "sha256")) {
            try VerifiedList(bytes.flippingBit(800), for: app, channel: production, file: file, role: try Self.role())
        }
        #expect(throws: TrustError.wrongLength(name: name, found: bytes.count - 1, expected: bytes.count)) {
            try VerifiedList(Array(bytes.dropLast()), for: app, channel: production, file: file, role: try Self.role())
        }
    }

    @Test func `is for the app and the channel that ask`() throws {
        let name = "production/patchlist.json"
        #expect(
            throws: TrustError.foreign(document: name, field: "app", found: "com.example.other", expected: app.text)
        ) {
            try Self.verify(try Self.sample().setting("app", to: .text("com.example.other")))
        }
        // A channel's list has urls of that channel; a script's have none, so only the header tells.
        let beta = try Self.sample().setting("channel", to: .text("beta"))
        #expect(throws: TrustError.foreign(document: name, field: "channel", found: "beta", expected: "production")) {
            try Self.verify(beta)
        }
    }

    @Test func `is malformed when its header is`() throws {
        #expect(
            throws: TrustError.malformed(
                FormatError(
                    "production/patchlist.json",
                    field: "serial",
                    rule: "must be an integer from 0 to 9007199254740991"
                )
            )
        ) {
            try Self.verify(try Self.sample().setting("serial", to: nil))
        }
    }

    @Test(arguments: ["md5", "sha1"])
    func `refuses exactly the entry of which one digest is another`(_ field: String) throws {
        let list = try Self.verify(try Self.sample().flipping("patches.0.\(field)"))
        #expect(list.refused.map(\.fault) == [EntryFault(entry: "fix-cart-total 3", rule: .signature)])
        #expect(list.refused.first?.patchID?.text == "fix-cart-total" && list.refused.first?.version?.text == "3")
        #expect(list.entries.map { "\($0.patchID) \($0.version)" } == ["fix-cart-total 2", "web 1.0.0"])
    }

    @Test func `refuses exactly the entry of which SHA-256 and url are another`() throws {
        let flipped = try Self.sample().flipping("patches.0.sha256")
        guard
            case .string(let sha256) = flipped.object?["patches"].flatMap({
                if case .array(let rows) = $0 { rows[0]["sha256"] } else { nil }
            })
        else {
            Issue.record("no sha256")
            return
        }
        let url = "objects/\(sha256.text.prefix(2))/\(sha256.text)"
        #expect(
            try Self.faults(flipped.setting("patches.0.url", to: .text(url))) == [
                EntryFault(entry: "fix-cart-total 3", rule: .signature)
            ]
        )
        let alone = try Self.faults(flipped)
        #expect(
            alone == [
                EntryFault(
                    entry: "fix-cart-total 3",
                    rule: .unreadable("production/patchlist.json: patches[0].url must be \(url)")
                )
            ]
        )
    }

    @Test(arguments: [0, 1, 1_000, 1_536, 3_071])
    func `refuses exactly the entry of which one bit of the signature is another`(_ bit: Int) throws {
        let sample = try Self.sample()
        let good = try Self.verify(sample).entries[1].signature.bytes
        let list = sample.setting("patches.1.signature.sig", to: .text(Base64.text(good.flippingBit(bit))))
        #expect(try Self.faults(list) == [EntryFault(entry: "fix-cart-total 2", rule: .signature)])
    }

    @Test func `refuses exactly the entry of which the key id is another`() throws {
        let list = try Self.sample().flipping("patches.2.signature.keyid")
        let refused = try Self.verify(list).refused
        guard case .unknownKey(let id) = refused.first?.fault.rule else {
            Issue.record("\(refused)")
            return
        }
        #expect(
            refused.count == 1 && refused[0].fault.entry == "web 1.0.0"
                && id.hex.dropFirst() == "b2388578e995788d99a5073361c24de230c9b1c8a0888d97d78d7d25e530835"
        )
    }

    @Test func `refuses every entry that a key signed which the role does not list`() throws {
        let role = try TargetsRole(try World.channel(), name: "production")
        let list = try Self.verify(try Self.sample(), role: role)
        #expect(list.entries == [])
        #expect(list.refused.count == 3)
    }

    @Test func `refuses the role when one bit of its key is another, for its id is then wrong`() throws {
        let pem = try TestingKey.entry.publicPEM
        let row = EntryKeysTests.row(pem: pem)
        let flipped = String(decoding: Array(pem.utf8).flippingBit(200 * 8), as: UTF8.self)
        let error = FormatError(
            "role",
            field: "x-patchline-entry-keys.\(row.id)",
            rule: "must be the SHA-256 of its key's canonical JSON"
        )
        #expect(throws: error) {
            try EntryKeysTests.read([(row.id, row.json.setting("keyval.public", to: .text(flipped)))])
        }
    }

    /// An entry whose signature is good, for a statement that says something else.
    private func entry(
        app name: String = "com.example.storefront",
        channel: String = "production",
        id: String = "web",
        version: String = "1",
        kind: PatchKind = .script
    ) throws -> JSON {
        let fingerprint = Fingerprint(of: Array("x".utf8))
        let statement = Statement.patch(
            app: named(name),
            channel: named(channel),
            patchID: named(id),
            kind: kind,
            version: named(version),
            fingerprint: fingerprint
        )
        let key = try TestingKey.entry.key
        return PatchEntry(
            patchID: web,
            kind: .script,
            version: named("1"),
            url: URLLayout.object(fingerprint.sha256),
            fingerprint: fingerprint,
            signature: EntrySignature(
                keyID: EntryKeys.id(of: key.publicKey),
                bytes: try key.sign(statement, scheme: .rsaPKCS1v15)
            ),
            salt: [UInt8](repeating: 0, count: 16),
            rules: .everyone
        ).json
    }

    @Test func `refuses an entry that was signed for another app, channel, id, version or kind`() throws {
        let sample = try Self.sample()
        #expect(try Self.faults(sample.setting("patches", to: .array([try entry()]))) == [])
        for moved in [
            try entry(app: "com.example.other"), try entry(channel: "beta"), try entry(id: "fix-cart-total"),
            try entry(version: "2"), try entry(kind: .bundle),
        ] {
            #expect(
                try Self.faults(sample.setting("patches", to: .array([moved]))) == [
                    EntryFault(entry: "web 1", rule: .signature)
                ]
            )
        }
    }

    @Test func `refuses an unreadable entry alone, and names it as far as it can be read`() throws {
        let list = try Self.sample().setting("patches.0.size", to: .text("1")).setting("patches.1.patchId", to: .null)
            .setting("patches.2.version", to: .null)
        #expect(try Self.faults(list).map(\.entry) == ["fix-cart-total 3", "entry 1", "web"])
    }

    @Test func `knows by the digests when one bit of the file is another`() throws {
        let entry = try #require(try Self.verify(try Self.sample()).entries.first)
        let file = try Vectors.bytes("patch-list/files/fix-cart-total-3.js")
        #expect(Fingerprint(of: file).firstDifference(from: entry.fingerprint) == nil)
        for bit in stride(from: 0, to: file.count * 8, by: 29) {
            #expect(Fingerprint(of: file.flippingBit(bit)).firstDifference(from: entry.fingerprint) == "md5")
        }
        #expect(Fingerprint(of: Array(file.dropLast())).firstDifference(from: entry.fingerprint) == "size")
    }
}
