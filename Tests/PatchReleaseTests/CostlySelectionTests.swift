import PatchFormat
import PatchRelease
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@Suite("A list made to cost what is shipped of it")
struct CostlySelectionTests {
    @Test(.timeLimit(.minutes(20))) func `that is one chain leaves what needs nothing`() throws {
        var entries: [PatchEntry] = []
        for number in 0..<2_000 { entries.append(try Self.entry("p\(10_000 + number)", needs: "p\(10_001 + number)")) }
        entries.append(try Self.entry("web", needs: nil))
        let list = PatchList(
            app: try #require(AppID("com.example.shop")),
            channel: try #require(ChannelName("production")),
            serial: 1,
            published: try #require(UTCTime("2026-01-01T00:00:00Z")),
            entries: entries
        )
        // Sorted anew for each that falls, these are fifty million comparisons of names.
        #expect(try EmbeddedSelection(list).entries.map(\.patchID.text) == ["web"])
    }

    private static func entry(_ id: String, needs other: String?) throws -> PatchEntry {
        let digest = SHA256Digest(of: Array(id.utf8))
        var requires: [PatchID: [SHA256Digest]] = [:]
        if let other { requires[try #require(PatchID(other))] = [SHA256Digest(of: Array(other.utf8))] }
        return PatchEntry(
            patchID: try #require(PatchID(id)),
            kind: .script,
            version: try #require(VersionLabel("1")),
            url: "objects/x",
            fingerprint: Fingerprint(
                size: 1,
                md5: try #require(Digest<MD5>(bytes: Array(repeating: 0, count: 16))),
                sha1: try #require(Digest<SHA1>(bytes: Array(repeating: 0, count: 20))),
                sha256: digest
            ),
            signature: EntrySignature(keyID: digest, bytes: []),
            salt: Array(repeating: 0, count: 16),
            requires: requires,
            rules: .everyone
        )
    }
}
