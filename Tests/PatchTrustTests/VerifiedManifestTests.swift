import PatchFormat
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

@Suite("A verified manifest")
struct VerifiedManifestTests {
    static func keys() throws -> EntryKeys { EntryKeys([try TestingKey.entry.key.publicKey]) }

    static func entry() throws -> PatchEntry {
        try ParsedPatchList(try Vectors.bytes("patch-list/patchlist.json")).list.entries[2]
    }

    static func sample() throws -> JSON { try Vectors.json("manifest/manifest.json") }

    static func column() throws -> SignatureColumn {
        try SignatureColumn(try Vectors.bytes("manifest/manifest.sigs"), assets: 5)
    }

    /// The manifest as an entry that names exactly these bytes would offer it.
    static func verify(_ manifest: JSON, column: [UInt8]? = nil, for name: AppID = app, keys: EntryKeys? = nil)
        async throws
        -> VerifiedManifest
    {
        let (bytes, entry) = (manifest.fileBytes, try entry())
        let same = PatchEntry(
            patchID: entry.patchID,
            kind: entry.kind,
            version: entry.version,
            url: entry.url,
            fingerprint: Fingerprint(of: bytes),
            signature: entry.signature,
            salt: entry.salt,
            rules: entry.rules
        )
        let sigs = try column ?? Vectors.bytes("manifest/manifest.sigs")
        let keys = try keys ?? Self.keys()
        let whole = Result { () throws(TrustError) in
            try VerifiedManifest(bytes, column: sigs, of: same, app: name, keys: keys)
        }
        for size in [1, 100, 1_000_000] {
            let result: Result<AssetManifest, TrustError>
            do throws(TrustError) {
                result = .success(
                    try await VerifiedManifest(
                        from: Pieces(bytes, size: size),
                        column: Pieces(sigs, size: size),
                        columnSize: sigs.count,
                        of: same,
                        app: name,
                        keys: keys
                    ).manifest
                )
            } catch { result = .failure(error) }
            #expect(result == whole.map(\.manifest), "in pieces of \(size) bytes")
        }
        return try whole.get()
    }

    static func fault(_ entry: String, _ rule: EntryFault.Rule = .signature) -> TrustError {
        .entry(EntryFault(entry: entry, rule: rule))
    }

    @Test func `is the one of the vector, and every file has the digests that it says`() throws {
        let bytes = try Vectors.bytes("manifest/manifest.json")
        let verified = try VerifiedManifest(
            bytes,
            column: try Vectors.bytes("manifest/manifest.sigs"),
            of: try Self.entry(),
            app: app,
            keys: try Self.keys()
        )
        #expect(verified.manifest.json.fileBytes == bytes)
        #expect(verified.column == SHA256Digest(of: try Vectors.bytes("manifest/manifest.sigs")))
        for asset in verified.manifest.assets {
            #expect(Fingerprint(of: try Vectors.bytes("manifest/files/\(asset.path)")) == asset.fingerprint)
        }
    }

    /// The vector beside itself, as an earlier version that was checked.
    private func verified(
        beside earlier: [UInt8],
        column: [UInt8]? = nil,
        digest: SHA256Digest? = nil,
        keys: EntryKeys? = nil
    ) async throws -> VerifiedManifest {
        let (bytes, sigs) = (try Vectors.bytes("manifest/manifest.json"), try Vectors.bytes("manifest/manifest.sigs"))
        let new = column ?? sigs
        let vouched = try #require(
            VerifiedRows(
                BytesInMemory(bytes),
                sha256: digest ?? SHA256Digest(of: bytes),
                column: earlier,
                columnDigest: SHA256Digest(of: earlier)
            )
        )
        return try await VerifiedManifest(
            from: BytesInMemory(bytes),
            column: BytesInMemory(new),
            columnSize: new.count,
            of: try Self.entry(),
            app: app,
            keys: try keys ?? Self.keys(),
            beside: vouched
        )
    }

    @Test func `has no signature checked again that an earlier version vouches for, byte for byte`() async throws {
        let sigs = try Vectors.bytes("manifest/manifest.sigs")
        let (second, wrong) = (46 + 384 + 7, Self.fault("web 1.0.0 app/main.js.map"))
        #expect(try await verified(beside: sigs).checkedRows == 0)
        #expect(try await verified(beside: sigs.flippingBit(second * 8)).checkedRows == 1)
        // What vouches says nothing of another signature over the same file.
        let error = await #expect(throws: TrustError.self) {
            try await verified(beside: sigs, column: sigs.flippingBit(second * 8))
        }
        #expect(error == wrong)
        // A key that the list does not name any more vouches for nothing.
        let unknown = await #expect(throws: TrustError.self) { try await verified(beside: sigs, keys: EntryKeys.none) }
        let keyID = try Self.column().keyID
        #expect(unknown == Self.fault("web 1.0.0 app/main.js", .unknownKey(keyID)))
        let bytes = try Vectors.bytes("manifest/manifest.json")
        #expect(
            VerifiedRows(
                BytesInMemory(bytes),
                sha256: SHA256Digest(of: bytes),
                column: sigs,
                columnDigest: SHA256Digest(of: bytes)
            ) == nil
        )
    }

    @Test func `has signatures that openssl verifies over their statements`() throws {
        let (column, manifest) = (try Self.column(), try AssetManifest(try Vectors.bytes("manifest/manifest.json")))
        let bench = try Bench()
        try bench.write(try Vectors.bytes("manifest/entry.pub"), to: "pub")
        for (asset, signature) in zip(manifest.assets, column.signatures) {
            try bench.write(asset.statement(app: app, patchID: web), to: "statement")
            try bench.write(signature, to: "sig")
            #expect(try bench.run("openssl dgst -sha256 -verify pub -signature sig statement") == "Verified OK\n")
        }
    }

    @Test func `has the size and digests of its entry`() throws {
        let (bytes, sigs, entry, keys) = (
            try Vectors.bytes("manifest/manifest.json"), try Vectors.bytes("manifest/manifest.sigs"), try Self.entry(),
            try Self.keys()
        )
        #expect(throws: Self.fault("web 1.0.0 manifest", .differs("md5"))) {
            try VerifiedManifest(bytes.flippingBit(99), column: sigs, of: entry, app: app, keys: keys)
        }
        #expect(throws: Self.fault("web 1.0.0 manifest", .differs("size"))) {
            try VerifiedManifest(bytes + [0x20], column: sigs, of: entry, app: app, keys: keys)
        }
    }

    @Test(arguments: ["md5", "sha1", "sha256"], [0, 4])
    func `is refused by the name of the asset of which one digest is another`(_ field: String, row: Int) async throws {
        let path = ["app/main.js", "", "", "", "styles/empty.css"][row]
        await #expect(throws: Self.fault("web 1.0.0 \(path)")) {
            try await Self.verify(try Self.sample().flipping("assets.\(row).\(field)"))
        }
    }

    @Test func `is refused by the name of the asset of which the size is another`() async throws {
        await #expect(throws: Self.fault("web 1.0.0 index.html")) {
            try await Self.verify(try Self.sample().setting("assets.3.size", to: .integer(1)))
        }
    }

    @Test(arguments: [0, 4], [0, 1_536, 3_071])
    func `is refused by the name of the asset of which one bit of the signature is another`(_ row: Int, bit: Int)
        async throws
    {
        let path = ["app/main.js", "", "", "", "styles/empty.css"][row]
        let sigs = try Vectors.bytes("manifest/manifest.sigs").flippingBit((46 + row * 384) * 8 + bit)
        await #expect(throws: Self.fault("web 1.0.0 \(path)")) {
            try await Self.verify(try Self.sample(), column: sigs)
        }
    }

    @Test func `is refused when its column names a key that the role does not list`() async throws {
        let sigs = try Vectors.bytes("manifest/manifest.sigs").flippingBit(8 * 8)
        let id = try #require(SHA256Digest(bytes: Array(sigs[8..<40])))
        await #expect(throws: Self.fault("web 1.0.0 app/main.js", .unknownKey(id))) {
            try await Self.verify(try Self.sample(), column: sigs)
        }
        let other = EntryKeys([try TestingKey.other.key.publicKey])
        await #expect(throws: Self.fault("web 1.0.0 app/main.js", .unknownKey(try Self.column().keyID))) {
            try await Self.verify(try Self.sample(), keys: other)
        }
    }

    @Test func `is refused when two signatures stand in each other's place`() async throws {
        let column = try Self.column()
        var signatures = column.signatures
        signatures.swapAt(1, 2)
        let sigs = SignatureColumn(keyID: column.keyID, signatures: signatures).bytes
        await #expect(throws: Self.fault("web 1.0.0 app/main.js.map")) {
            try await Self.verify(try Self.sample(), column: sigs)
        }
    }

    @Test func `is refused when its column is cut off or for another number of assets`() async throws {
        let sigs = try Vectors.bytes("manifest/manifest.sigs")
        await #expect(
            throws: TrustError.malformed(
                FormatError(
                    "web 1.0.0 manifest.sigs",
                    field: "length",
                    rule: "is 384 for 5 signatures in \(sigs.count - 1) bytes"
                )
            )
        ) {
            try await Self.verify(try Self.sample(), column: Array(sigs.dropLast()))
        }
        let column = try Self.column()
        let shorter = SignatureColumn(keyID: column.keyID, signatures: Array(column.signatures.dropLast())).bytes
        await #expect(
            throws: TrustError.malformed(
                FormatError("web 1.0.0 manifest.sigs", field: "count", rule: "is 4 for a manifest of 5 assets")
            )
        ) {
            try await Self.verify(try Self.sample(), column: shorter)
        }
    }

    @Test(arguments: [
        ("app", "com.example.other", "com.example.storefront"), ("patchId", "shop", "web"),
        ("version", "1.0.1", "1.0.0"),
    ])
    func `is of the app, patch and version of its entry`(_ field: String, found: String, expected: String) async throws
    {
        await #expect(
            throws: TrustError.foreign(document: "web 1.0.0 manifest", field: field, found: found, expected: expected)
        ) {
            try await Self.verify(try Self.sample().setting(field, to: .text(found)))
        }
    }

    @Test func `is refused when one asset was signed for another app, patch or path`() async throws {
        let asset = try AssetManifest(try Vectors.bytes("manifest/manifest.json")).assets[2]
        let (column, key) = (try Self.column(), try TestingKey.entry.key)
        func moved(app name: AppID = app, patch: PatchID = web, path: String? = nil) throws -> [UInt8] {
            let statement = Statement.asset(
                app: name,
                patchID: patch,
                path: try AssetPath(path ?? asset.path.text),
                fingerprint: asset.fingerprint
            )
            var signatures = column.signatures
            signatures[2] = try key.sign(statement, scheme: .rsaPKCS1v15)
            return SignatureColumn(keyID: column.keyID, signatures: signatures).bytes
        }
        #expect(try moved() == (try Vectors.bytes("manifest/manifest.sigs")))
        for sigs in [
            try moved(app: named("com.example.other")), try moved(patch: named("shop")),
            try moved(path: "images/cafe 1.svg"),
        ] {
            await #expect(throws: Self.fault("web 1.0.0 images/café 1.svg")) {
                try await Self.verify(try Self.sample(), column: sigs)
            }
        }
    }

    @Test func `is malformed when the manifest is`() async throws {
        await #expect(
            throws: TrustError.malformed(FormatError("web 1.0.0 manifest", field: "index", rule: "is not an asset"))
        ) {
            try await Self.verify(try Self.sample().setting("index", to: .text("home.html")))
        }
    }
}

/// Bytes in pieces of one size.
private final class Pieces: ByteSource {
    private var rest: ArraySlice<UInt8>
    private let size: Int

    init(_ bytes: [UInt8], size: Int) {
        rest = bytes[...]
        self.size = size
    }

    func next() -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(size) }
        return Array(rest.prefix(size))
    }
}
