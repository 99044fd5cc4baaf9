import FoundationEssentials
import PatchFormat
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

@Suite("A role's key of any kind")
struct KeyKindTests {
    static let kinds: [KeyKind] = [.rsa(bits: 2_048), .ed25519, .p256]

    private static func root(_ keys: [PrivateKey], threshold: Int) -> Envelope {
        let signers = RoleDocument.Signers(keys: keys.map { TUFKey($0.publicKey) }, threshold: threshold)
        return RoleDocument.root(
            app: app,
            version: 1,
            expires: time("2027-11-20T08:00:00Z"),
            roles: ["root": signers, "targets": signers, "snapshot": signers, "timestamp": signers]
        )
    }

    @Test(arguments: kinds)
    func `that is new is of that kind and opens again from its encrypted PEM`(_ kind: KeyKind) throws {
        let key = try PrivateKey.generate(kind)
        #expect(key.publicKey.kind == kind)
        let pem = try key.pem(passphrase: "two words")
        #expect(try PrivateKey(pem: pem, passphrase: "two words").publicKey == key.publicKey)
        #expect(throws: KeyError.needsPassphrase) { try PrivateKey(pem: pem, passphrase: nil) }
        #expect(try PrivateKey.generate(kind).publicKey != key.publicKey)
    }

    @Test(arguments: kinds)
    func `is written so that reading it gives the same key, id and scheme`(_ kind: KeyKind) throws {
        let key = try PrivateKey.generate(kind).publicKey
        let written = TUFKey(key)
        let read = TUFKey(try JSON(parsing: written.json.fileBytes))
        #expect(read.json.canonicalBytes == written.json.canonicalBytes && read.id == written.id)
        #expect(read.publicKey == key)
        #expect(read.scheme == kind.roleScheme)
    }

    @Test func `is written by the names of TUF 4.2.2`() throws {
        let rsa = try TestingKey.root.key.publicKey
        #expect(TUFKey(rsa) == TUFKey(rsa: rsa, scheme: .rsaPSS))
        let ed = try PrivateKey.generate(.ed25519).publicKey
        let value = try #require(ed.ed25519Bytes)
        #expect(
            TUFKey(ed).json
                == .fields([
                    ("keytype", .text("ed25519")), ("scheme", .text("ed25519")),
                    ("keyval", .fields([("public", .text(Hex.text(value)))])),
                ])
        )
        #expect(rsa.ed25519Bytes == nil)
        let ec = try PrivateKey.generate(.p256).publicKey
        #expect(
            TUFKey(ec).json
                == .fields([
                    ("keytype", .text("ecdsa")), ("scheme", .text("ecdsa-sha2-nistp256")),
                    ("keyval", .fields([("public", .text(ec.pem))])),
                ])
        )
    }

    @Test func `counts towards a threshold with those of other kinds`() throws {
        let keys = try Self.kinds.map { try PrivateKey.generate($0) }
        var root = Self.root(keys, threshold: 3)
        let roleKeys = try RootRole(root).keys(of: "root")
        for (count, key) in keys.enumerated() {
            #expect(roleKeys.validSignatures(on: root) == count)
            try root.sign(with: key, id: TUFKey(key.publicKey).id)
        }
        #expect(roleKeys.validSignatures(on: root) == 3)
    }

    @Test func `signs what python-tuf verifies and refuses once it was changed`() throws {
        let bench = try Bench()
        let keys = try Self.kinds.map { try PrivateKey.generate($0) }
        var root = Self.root(keys, threshold: 3)
        for key in keys { try root.sign(with: key, id: TUFKey(key.publicKey).id) }
        try bench.write(root.fileBytes, to: "root.json")
        let judge = """
            import json
            from tuf.api.metadata import Metadata, Root
            from tuf.api.exceptions import UnsignedMetadataError
            data = open('root.json', 'rb').read()
            root = Metadata[Root].from_bytes(data)
            root.verify_delegate('root', root)
            for keyid, key in root.signed.keys.items():
                key.verify_signature(root.signatures[keyid], root.signed_bytes)
                print(key.keytype, key.scheme)
            for keyid in list(root.signatures):
                changed = Metadata[Root].from_bytes(data)
                raw = bytearray.fromhex(changed.signatures[keyid].signature)
                raw[-1] ^= 1
                changed.signatures[keyid].signature = raw.hex()
                try: root.verify_delegate('root', changed)
                except UnsignedMetadataError: print('refused')
            """
        try bench.write(Array(judge.utf8), to: "judge.py")
        let output = try bench.run("\"$PATCHLINE_JUDGES_PYTHON\" judge.py")
        #expect(
            output.split(separator: "\n").sorted() == [
                "ecdsa ecdsa-sha2-nistp256", "ed25519 ed25519", "refused", "refused", "refused",
                "rsa rsassa-pss-sha256",
            ]
        )
    }
}
