import PatchFormat
import PatchTesting
import Testing

@Suite("A release header")
struct ReleaseHeaderTests {
    @Test func `of the vector reads and writes the same bytes`() throws {
        let bytes = try Vectors.bytes("release/release.json")
        let header = try ReleaseHeader(bytes)
        #expect(header.json.fileBytes == bytes)
        #expect(header.base?.roleVersion == 1 && header.roleVersion == 2)
    }

    @Test func `of a channel's first release has no base and makes role version 1`() throws {
        let bytes = try Vectors.bytes("release/first-release.json")
        let header = try ReleaseHeader(bytes)
        #expect(header.json.fileBytes == bytes)
        #expect(header.base == nil && header.roleVersion == 1)
    }

    @Test(
        arguments: [
            ("format", .some(.text("patchline-release-v2")), "must be patchline-release-v1"),
            ("app", .some(.text("..")), AppID.rule),
            ("channel", .some(.text("Root")), ChannelName.rule), ("base", nil, "must be an object"),
            ("base", .some(.integer(1)), "must be an object"),
            ("base.roleVersion", .some(.integer(0)), "must be an integer from 1 to 9007199254740990"),
            (
                "base.roleVersion", .some(.integer(9_007_199_254_740_991)),
                "must be an integer from 1 to 9007199254740990"
            ),
            ("base.sha256", .some(.text("x")), "must be 64 lowercase hex digits"),
            ("base.sha256", nil, "must be a string"),
        ] as [(String, JSON?, String)]
    )
    func `is refused by field and rule`(_ field: String, value: JSON?, rule: String) throws {
        let json = try Vectors.json("release/release.json").setting(field, to: value)
        #expect(throws: FormatError("release.json", field: field, rule: rule)) { try ReleaseHeader(json.fileBytes) }
    }

    @Test func `says what was left out and which proposal it carries out, and is whole without the one`() throws {
        let plain = try ReleaseHeader(try Vectors.bytes("release/release.json"))
        let header = ReleaseHeader(
            app: plain.app,
            channel: plain.channel,
            base: plain.base,
            leavesObjectsOut: true,
            proposal: ProposalID("0123456789abcdef")
        )
        #expect(try ReleaseHeader(header.json.fileBytes) == header)
        #expect(header.json["objects"] == .text("partial"))
        #expect(header.whole.withoutObjects == header && header.whole.json["objects"] == nil)
        #expect(throws: FormatError("release.json", field: "objects", rule: "must be partial")) {
            try ReleaseHeader(header.json.setting("objects", to: .text("all")).fileBytes)
        }
        #expect(throws: FormatError("release.json", field: "proposal", rule: ProposalID.rule)) {
            try ReleaseHeader(header.json.setting("proposal", to: .text("0123456789ABCDEF")).fileBytes)
        }
    }

    @Test func `over its limit is refused before it is parsed`() {
        let bytes = [UInt8](repeating: UInt8(ascii: "["), count: Limits.releaseHeader + 1)
        #expect(throws: FormatError("release.json", rule: "is over 65536 bytes")) { try ReleaseHeader(bytes) }
    }
}
