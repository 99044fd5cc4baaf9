import PatchFormat
import PatchRelease
import PatchCrypto
import PatchTrust
import Testing

@Suite("The difference of two releases")
struct DifferenceTests {
    @Test func `says in words what is new, changed and no longer listed`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.describe("v2", web: "1.1.0", main: "changed()", extra: "rules: {rollout: 2500}")
        let one = ReleaseContents(try await bench.release("v1", to: "one").verified)
        let two = ReleaseContents(try await bench.release("v2", to: "two", on: "one").verified)
        func digest(_ contents: ReleaseContents, _ name: Label) throws -> String {
            "sha256 \(try #require(contents.entry(name)).fingerprint.sha256.hex.prefix(12))…"
        }
        let key = EntryKeys.id(of: try TestKey.entry.key.publicKey).hex.prefix(12)
        #expect(
            ReleaseDifference(from: nil, to: one).words == [
                "+ fix-a 1 is new (script, 3 bytes; \(try digest(one, label("fix-a", "1")))); everyone",
                "+ fix-b 1 is new (script, 3 bytes; \(try digest(one, label("fix-b", "1")))); everyone",
                "+ web 1.0.0 is new (bundle, 4 files; \(try digest(one, label("web", "1.0.0")))); everyone",
                "+ entry key \(key)…",
            ]
        )
        #expect(
            ReleaseDifference(from: one, to: two).words == [
                "= fix-a 1 stays", "= fix-b 1 stays",
                "~ web goes from 1.0.0 (\(try digest(one, label("web", "1.0.0")))) to 1.1.0 "
                    + "(\(try digest(two, label("web", "1.1.0")))); 25% of devices; "
                    + "0 files added, 1 changed, 0 removed, 3 unchanged; 9 bytes to fetch",
            ]
        )
        #expect(
            Array(ReleaseDifference(from: two, to: one).words.suffix(1))
                == ["- web 1.1.0 is no longer listed; devices that run it move to a listed version"]
        )
        #expect(ReleaseDifference(from: one, to: one).isEmpty)
    }

    @Test func `tells what a version says of a security hole, which its signatures do not depend on, and promotes it`()
        async throws
    {
        let bench = try Workbench()
        try bench.describe("v1")
        let security = "security: {text: Names could run scripts., url: \"https://example.com/7\"}"
        try bench.describe("v2", extra: security)
        let one = ReleaseContents(try await bench.release("v1", to: "one").verified)
        let (made, verified) = try await bench.release("v2", to: "two", on: "one")
        let two = ReleaseContents(verified)
        let reported = "Names could run scripts. (https://example.com/7)"
        #expect(two.entry(label("web", "1.0.0"))?.security?.description == reported)
        #expect(made.signatures == SignatureCounts(made: 0, kept: 7))
        #expect(!two.listsTheSame(as: one))
        #expect(
            ReleaseDifference(from: one, to: two).words
                == ["= fix-a 1 stays", "= fix-b 1 stays", "~ web 1.0.0: a security version: \(reported)"]
        )
        #expect(
            ReleaseDifference(from: two, to: one).words.last == "~ web 1.0.0: no longer a security version"
        )
        #expect(ReleaseDifference(from: nil, to: two).words[2].hasSuffix("); everyone; security: \(reported)"))
        let promoted = try ReleaseDraft(promoting: two, over: one)
        #expect(promoted.rows.map { $0.security?.description } == [nil, nil, reported])
        #expect(
            String(decoding: two.json.fileBytes, as: UTF8.self).contains(
                #""security":{"text":"Names could run scripts.","url":"https://example.com/7"}"#
            )
        )
    }

    @Test func `tells that the clients of another system get a bundle too, once, and that they get nothing more of it`()
        async throws
    {
        let bench = try Workbench()
        let page =
            "__meteor_runtime_config__ = JSON.parse(decodeURIComponent(\"%7B%22ROOT_URL%22:%22https://a%22,%22appId%22:%22a%22%7D\"))"
        try bench.describe("v1")
        try bench.write(page, to: "v1/web/index.html")
        try bench.describe("v2", extra: "gateways: [meteor]\n    compatibility: {ios: \"5e5e\"}")
        try bench.write(page, to: "v2/web/index.html")
        let one = ReleaseContents(try await bench.release("v1", to: "one").verified)
        let two = ReleaseContents(try await bench.release("v2", to: "two").verified)
        #expect(two.entry(label("web", "1.0.0"))?.gateways == [.meteor])
        let on =
            "~ web: Meteor's own clients get it as well, once every device may install it; "
            + "their protocol has no signatures, no expiry and the same answer for all"
        #expect(ReleaseDifference(from: nil, to: two).words.contains(on))
        #expect(ReleaseDifference(from: one, to: two).words.contains(on))
        #expect(ReleaseDifference(from: two, to: two).isEmpty)
        #expect(
            ReleaseDifference(from: two, to: one).words.contains(
                "~ web: Meteor's own clients get no more versions of it and keep theirs"
            )
        )
        #expect(String(decoding: two.json.fileBytes, as: UTF8.self).contains(#""gateways":["meteor"]"#))
        #expect(try ReleaseDraft(promoting: two, over: nil).rows.last?.gateways == [.meteor])
    }

    @Test func `tells where a new script runs, and refuses to move content that is listed`() async throws {
        let bench = try Workbench()
        let place = ", runsIn: page, pages: [/cart]"
        try bench.describe("v1")
        try bench.describe("moved", place: place)
        try bench.describe("again", scriptVersion: "2", place: place)
        try bench.describe("v2", script: "b()", scriptVersion: "2", place: place)
        let one = ReleaseContents(try await bench.release("v1", to: "one").verified)
        for (folder, version) in [("moved", "1"), ("again", "2")] {
            await #expect(
                throws: SigningError.republished(
                    label("fix-a", version),
                    difference: "fix-a 1 runs in the app's program"
                )
            ) { try await bench.release(folder, to: folder, on: "one") }
        }
        let two = ReleaseContents(try await bench.release("v2", to: "two", on: "one").verified)
        let words = ReleaseDifference(from: one, to: two).words
        #expect(words.first?.hasSuffix("); everyone; it runs in pages /cart") == true, "\(words)")
        #expect(two.entry(label("fix-a", "1"))?.place == .host)
        let json = String(decoding: two.json.fileBytes, as: UTF8.self)
        #expect(json.contains(#""pages":["/cart"],"patchId":"fix-a""#) && json.contains(#""runsIn":"page""#), "\(json)")
        #expect(try ReleaseDraft(promoting: two, over: one).rows.first?.place == two.list.entries.first?.place)
        // Another channel has the same content in another place.
        let other = ReleaseContents(try await bench.release("v2", to: "apart").verified)
        try bench.describe("in-host", script: "b()", scriptVersion: "2")
        let host = ReleaseContents(try await bench.release("in-host", to: "hosted").verified)
        #expect(
            throws: SigningError.republished(
                label("fix-a", "2"),
                difference: "runs in pages /cart in production"
            )
        ) { try ReleaseDraft(promoting: host, over: other) }
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-1_000, "-1,000")])
    func `groups digits`(_ number: Int, words: String) {
        #expect(Words.grouped(number) == words)
    }
}
