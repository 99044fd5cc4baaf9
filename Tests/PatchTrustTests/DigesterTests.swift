import PatchFormat
import PatchCrypto
import PatchTesting
import Testing

@Suite("A digester")
struct DigesterTests {
    @Test(arguments: [
        (
            "", "d41d8cd98f00b204e9800998ecf8427e", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        ),
        (
            "abc", "900150983cd24fb0d6963f7d28e17f72", "a9993e364706816aba3e25717850c26c9cd0d89d",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        ),
    ])
    func `gives the digests that the standards list`(_ text: String, md5: String, sha1: String, sha256: String) {
        let found = Fingerprint(of: Array(text.utf8))
        #expect([found.md5.hex, found.sha1.hex, found.sha256.hex] == [md5, sha1, sha256])
        #expect(found.size == text.utf8.count)
        #expect(SHA256Digest(of: Array(text.utf8)).hex == sha256)
    }

    @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 4_096, 1_000_001])
    func `agrees with coreutils and openssl`(_ count: Int) throws {
        let bench = try Bench()
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try bench.write(bytes, to: "file")
        let found = Fingerprint(of: bytes)
        for (name, hex) in [("md5", found.md5.hex), ("sha1", found.sha1.hex), ("sha256", found.sha256.hex)] {
            #expect(try bench.run("\(name)sum file") == "\(hex)  file\n")
            #expect(try bench.run("openssl dgst -\(name) -r file") == "\(hex) *file\n")
        }
    }

    @Test func `gives the same for pieces as for the whole`() {
        let bytes = (0..<10_000).map { UInt8($0 % 251) }
        var digester = Digester()
        for start in stride(from: 0, to: bytes.count, by: 777) {
            digester.update(Array(bytes[start..<min(start + 777, bytes.count)]))
        }
        digester.update([])
        #expect(digester.finish() == Fingerprint(of: bytes))
    }
}

@Suite("A cohort")
struct CohortVectorTests {
    @Test func `is SHA-256 of salt and device id as a big-endian number, modulo 10,000`() throws {
        let rows = try Fields(try Vectors.json("cohort.json"), of: "cohort.json").array("rows", limit: 100)
        #expect(rows.count == 12)
        for row in rows {
            let fields = try Fields(row, of: "cohort.json")
            let salt = try #require(Hex.bytes(try fields.string("salt")))
            let device = try #require(Hex.bytes(try fields.string("deviceId")))
            let number = SHA256Digest(of: salt + device).bytes.reduce(0) { ($0 << 8 + Int($1)) % 10_000 }
            #expect(try fields.integer("cohort", in: 0...9_999) == number)
        }
    }
}
