import PatchFormat
import Testing

@Suite("Hex")
struct HexTests {
    @Test func `writes every byte with two lowercase digits and reads them back`() {
        let all = (0...255).map { UInt8($0) }
        #expect(Hex.text([0x00, 0x0F, 0xA5, 0xFF]) == "000fa5ff")
        #expect(Hex.bytes(Hex.text(all)) == all)
        #expect(Hex.bytes("") == [])
    }

    @Test(arguments: ["0", "abc", "AB", "aB", "0g", "0x", " 00", "00 ", "0 ", "-1", "é", "００", "0\u{301}"])
    func `has one spelling`(_ text: String) {
        #expect(Hex.bytes(text) == nil)
    }
}

@Suite("Base64")
struct Base64Tests {
    @Test(
        arguments: [("", []), ("AA==", [0]), ("+/8=", [0xFB, 0xFF]), ("Zm9v", Array("foo".utf8))] as [(String, [UInt8])]
    )
    func `writes and reads RFC 4648`(_ text: String, bytes: [UInt8]) {
        #expect(Base64.text(bytes) == text)
        #expect(Base64.bytes(text) == bytes)
    }

    @Test(arguments: [
        "AA", "AA=", "AA===", "AAA", "A", "=", "====", "AB==", "AAB=", "-_8=", "Zm 9v", "Zm9v\n", "Zm9v\r\n", " Zm9v",
        "Zm9v=",
        "Zm9v====", "AA==AA==", "Zm9é", "Zm9*",
    ])
    func `has one spelling: padded, no spare bits, no white space`(_ text: String) {
        #expect(Base64.bytes(text) == nil)
    }
}

@Suite("A digest")
struct DigestTests {
    @Test func `has the length of its algorithm`() {
        #expect(
            MD5Digest(hex: "0".times(32)) != nil && SHA1Digest(hex: "0".times(40)) != nil
                && SHA256Digest(hex: "0".times(64)) != nil
        )
        #expect(MD5Digest(hex: "0".times(40)) == nil && SHA1Digest(hex: "0".times(32)) == nil)
        #expect(
            SHA256Digest(hex: "0".times(62)) == nil && SHA256Digest(hex: "0".times(66)) == nil
                && SHA256Digest(hex: "") == nil
        )
        #expect(SHA256Digest(hex: "A".times(64)) == nil)
        #expect(SHA256Digest(bytes: []) == nil)
    }

    @Test func `is written as lowercase hex and sorts by its bytes`() {
        #expect(digest(of: 0xAB, MD5Digest.self).description == "ab".times(16))
        #expect(digest(of: 0x09, SHA1Digest.self) < digest(of: 0x0A))
    }

    @Test func `of another sort differs by its name alone: size first, then each digest`() {
        let one = Fingerprint.sample(1)
        func differing(size: Int = 10, md5: UInt8 = 1, sha1: UInt8 = 1, sha256: UInt8 = 1) -> String? {
            one.firstDifference(
                from: Fingerprint(size: size, md5: digest(of: md5), sha1: digest(of: sha1), sha256: digest(of: sha256))
            )
        }
        #expect(differing() == nil)
        #expect(differing(size: 11) == "size")
        #expect(differing(md5: 2) == "md5")
        #expect(differing(sha1: 2) == "sha1")
        #expect(differing(sha256: 2) == "sha256")
        #expect(differing(size: 11, md5: 2, sha1: 2, sha256: 2) == "size")
    }
}
