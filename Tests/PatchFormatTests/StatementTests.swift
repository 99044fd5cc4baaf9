import PatchFormat
import PatchTesting
import Testing

@Suite("A statement")
struct StatementTests {
    static let names = Vectors.names(in: "statements", ending: ".statement")

    @Test func `has vectors`() {
        #expect(
            Self.names == ["asset", "asset-empty-file", "asset-quoted-unicode-path", "patch-bundle", "patch-script"]
        )
    }

    @Test(arguments: names)
    func `is the bytes of its vector`(_ name: String) throws {
        let fields = try Fields(try Vectors.json("statements/\(name).json"), of: name)
        let bytes =
            fields.has("kind")
            ? Statement.patch(
                app: try fields.name("app"),
                channel: try fields.name("channel"),
                patchID: try fields.name("patchId"),
                kind: try #require(PatchKind(rawValue: try fields.string("kind"))),
                version: try fields.name("version"),
                fingerprint: try fields.fingerprint()
            )
            : Statement.asset(
                app: try fields.name("app"),
                patchID: try fields.name("patchId"),
                path: try fields.assetPath("path"),
                fingerprint: try fields.fingerprint()
            )
        #expect(bytes == (try Vectors.bytes("statements/\(name).statement")))
    }

    @Test func `of a list entry is these bytes, to the letter`() {
        let bytes = Statement.patch(
            app: named("a"),
            channel: named("beta"),
            patchID: named("p"),
            kind: .script,
            version: named("1"),
            fingerprint: .sample(0xAB, size: 0)
        )
        let expected =
            "patchline-patch-v1\n" + #"{"app":"a","channel":"beta","kind":"script","md5":""# + "ab".times(16)
            + #"","patchId":"p","sha1":""# + "ab".times(20)
            + #"","sha256":""# + "ab".times(32) + #"","size":0,"version":"1"}"#
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test func `of an asset is these bytes, to the letter, with only quotes escaped in its path`() {
        let bytes = Statement.asset(
            app: named("a"),
            patchID: named("p"),
            path: path("é/\"x\""),
            fingerprint: .sample(1, size: 4_000_000_000)
        )
        let expected =
            "patchline-asset-v1\n" + #"{"app":"a","md5":""# + "01".times(16)
            + #"","patchId":"p","path":"é/\"x\"","sha1":""# + "01".times(20)
            + #"","sha256":""# + "01".times(32) + #"","size":4000000000}"#
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test func `of a list entry changes with everything that must not be swapped`() {
        func statement(
            app: String = "a",
            channel: String = "beta",
            patch: String = "p",
            kind: PatchKind = .script,
            version: String = "1",
            fingerprint: Fingerprint = .sample(1)
        ) -> [UInt8] {
            Statement.patch(
                app: named(app),
                channel: named(channel),
                patchID: named(patch),
                kind: kind,
                version: named(version),
                fingerprint: fingerprint
            )
        }
        let all = [
            statement(), statement(app: "b"), statement(channel: "production"), statement(patch: "q"),
            statement(kind: .bundle),
            statement(version: "2"), statement(fingerprint: .sample(2)), statement(fingerprint: .sample(1, size: 11)),
            Statement.asset(app: named("a"), patchID: named("p"), path: path("x"), fingerprint: .sample(1)),
            Statement.asset(app: named("b"), patchID: named("p"), path: path("x"), fingerprint: .sample(1)),
            Statement.asset(app: named("a"), patchID: named("q"), path: path("x"), fingerprint: .sample(1)),
            Statement.asset(app: named("a"), patchID: named("p"), path: path("y"), fingerprint: .sample(1)),
            Statement.asset(app: named("a"), patchID: named("p"), path: path("x"), fingerprint: .sample(2)),
        ]
        #expect(Set(all).count == all.count)
    }
}
