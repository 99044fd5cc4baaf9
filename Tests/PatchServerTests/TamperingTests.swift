import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage
import ServerTesting
import Testing

@Suite("A release with one bit flipped")
struct TamperingTests {
    private static let list = TargetPath.patchList(ReleaseFactory.production)
    private static let manifest = TargetPath.manifest(
        channel: ReleaseFactory.production,
        patchID: named("web"),
        version: named("1.0.0")
    )
    private static let column = TargetPath.signatureColumn(
        channel: ReleaseFactory.production,
        patchID: named("web"),
        version: named("1.0.0")
    )

    /// Offers a release to a server that publishes another one, and looks at every file afterwards.
    private func expect(
        _ error: ServerError,
        _ make: (TestingServer, FaultyFiles) throws -> SignedRelease,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let files = FaultyFiles()
        let server = try TestingServer(files: files)
        try server.publish(
            try server.factory.release(ReleaseFactory.Contents(scripts: [:], web: nil), on: server.repository)
        )
        let release = try make(server, files)
        let before = try server.everything()
        #expect(throws: error, sourceLocation: location) { try server.publish(release) }
        #expect(try server.everything() == before, sourceLocation: location)
    }

    private func refused(_ entry: String, _ rule: EntryFault.Rule) -> ServerError {
        .release(.trust(.entry(EntryFault(entry: entry, rule: rule))))
    }

    @Test(arguments: [("cart.total = 1;", "fix-cart-total 1"), ("console.log(1);", "web 1.0.0 app/main.js")])
    func `in an object is refused by the entry that names it`(text: String, entry: String) throws {
        try expect(refused(entry, .differs("md5"))) { server, files in
            let release = try server.factory.release(on: server.repository)
            try files.rot(try #require(release.objects[SHA256Digest(of: Array(text.utf8))]))
            return release
        }
    }

    @Test(arguments: [list, manifest, column])
    func `in a document is refused by the document's name`(path: TargetPath) throws {
        try expect(.release(.trust(.wrongDigest(name: path.text, algorithm: "sha256")))) { server, _ in
            try server.factory.release(on: server.repository).altered(path) { $0[$0.count / 2] ^= 1 }
        }
    }

    @Test
    func `in the role's signature leaves it unsigned`() throws {
        try expect(.release(.trust(.threshold(role: "production", valid: 0, needed: 1)))) { server, _ in
            var release = try server.factory.release(on: server.repository)
            var signature = try #require(release.role.signatures.first)
            signature = .init(keyID: signature.keyID, bytes: signature.bytes.map { $0 ^ 1 })
            release.merge([signature])
            return release
        }
    }

    @Test(arguments: ["md5", "sha1", "sha256"])
    func `in a digest of a list entry is refused by that entry, even when the role vouches for it`(field: String) throws
    {
        let script = Fingerprint(of: Array("cart.total = 1;".utf8))
        let (old, new) =
            switch field {
            case "md5": (script.md5.hex, Hex.text(script.md5.bytes.map { $0 ^ 1 }))
            case "sha1": (script.sha1.hex, Hex.text(script.sha1.bytes.map { $0 ^ 1 }))
            default: (script.sha256.hex, Hex.text(script.sha256.bytes.map { $0 ^ 1 }))
            }
        try expect(
            refused("fix-cart-total 1", .signature)
        ) { server, _ in
            try server.factory.release(on: server.repository) { targets in
                let prefixes = (old.prefix(2), new.prefix(2))
                targets[Self.list]?.replace(old, with: new)
                targets[Self.list]?.replace("objects/\(prefixes.0)/", with: "objects/\(prefixes.1)/")
            }
        }
    }

    @Test
    func `in an entry's signature is refused by that entry`() throws {
        try expect(refused("fix-cart-total 1", .signature)) { server, _ in
            try server.factory.release(on: server.repository) { targets in
                targets[Self.list]?.replace("\"sig\":\"", with: "\"sig\":\"AAAA", dropping: 4)
            }
        }
    }

    @Test
    func `in an asset's signature is refused by that asset, even when the role vouches for it`() throws {
        try expect(refused("web 1.0.0 app/main.js", .signature)) { server, _ in
            try server.factory.release(on: server.repository) { $0[Self.column]?[46] ^= 1 }
        }
    }

    @Test
    func `in an entry key's id is refused as an unknown key`() throws {
        let id = EntryKeys.id(of: try TestingKey.entry.key.publicKey)
        let other = try #require(SHA256Digest(bytes: id.bytes.map { $0 ^ 1 }))
        try expect(refused("fix-cart-total 1", .unknownKey(other))) { server, _ in
            try server.factory.release(on: server.repository) { $0[Self.list]?.replace(id.hex, with: other.hex) }
        }
    }

    @Test
    func `or with an object missing is refused by the entry that needs it`() throws {
        let digest = SHA256Digest(of: Array("cart.total = 1;".utf8))
        try expect(.release(.missing("fix-cart-total 1: \(URLLayout.object(digest))"))) { server, _ in
            let release = try server.factory.release(on: server.repository)
            return SignedRelease(
                header: release.header,
                role: release.role,
                targets: release.targets,
                objects: release.objects.filter { $0.key != digest }
            )
        }
    }
}

extension SignedRelease {
    func altered(_ path: TargetPath, _ alter: (inout [UInt8]) -> Void) -> SignedRelease {
        var targets = targets
        if var bytes = targets[path] {
            alter(&bytes)
            targets[path] = bytes
        }
        return SignedRelease(header: header, role: role, targets: targets, objects: objects)
    }
}

extension [UInt8] {
    /// Replaces every `old`, and as many bytes after it as are dropped.
    fileprivate mutating func replace(_ old: String, with new: String, dropping count: Int = 0) {
        let (old, new) = (Array(old.utf8), Array(new.utf8))
        var out: [UInt8] = []
        var rest = self[...]
        while !rest.isEmpty {
            if rest.starts(with: old) {
                out += new
                rest = rest.dropFirst(old.count + count)
            } else if let byte = rest.popFirst() {
                out.append(byte)
            }
        }
        self = out
    }
}
