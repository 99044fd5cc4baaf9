import PatchFormat
import PatchCrypto
import PatchTesting
import Testing

/// What a server sees of devices and users: names that another implementation makes the same way.
@Suite("The names by which a server knows devices")
struct DeviceNamesTests {
    private func entry(_ text: String, salt: UInt8) -> PatchEntry {
        PatchEntry(
            patchID: named("web"),
            kind: .script,
            version: named("1"),
            url: "",
            fingerprint: Fingerprint(of: Array(text.utf8)),
            signature: EntrySignature(keyID: SHA256Digest(of: []), bytes: []),
            salt: [UInt8](repeating: salt, count: 16),
            rules: .everyone
        )
    }

    @Test func `are one for each version, so that two cannot be linked`() {
        let device = [UInt8](0..<16)
        let name = entry("one", salt: 7).placeName(of: device)
        // printf 'patchline-place-v1\n'; salt; sha256 of "one"; 00 01 … 0f | sha256sum
        #expect(name.hex == "8b9babf64a039ef315a43b3f95fd59aedbfcab19a1e24c32d7399908bf96f3a5")
        #expect(entry("two", salt: 7).placeName(of: device) != name)
        #expect(entry("one", salt: 8).placeName(of: device) != name)
        #expect(entry("one", salt: 7).placeName(of: device.reversed()) != name)
    }

    @Test func `are for a user another in each app`() throws {
        let alice = try #require(UserID("alice"))
        #expect(
            alice.answerHash(in: named("com.example.app")).hex
                == "048338be663925c5521da64d986fe6d6305c106dc962704b6bed035c26892221"
        )
        #expect(alice.answerHash(in: named("com.example.app")) != alice.answerHash(in: named("com.example.other")))
    }
}
