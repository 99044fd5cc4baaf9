import HTTPAPI
import PatchFormat
import Testing

@Suite("A member of a request's body that its description does not name")
struct UnknownMemberTests {
    /// Its members' names are those of versions.
    private static let shares = APISchema(
        json: .fields([
            ("type", .text("object")), ("additionalProperties", APISchema.object([("all", .bool)]).json),
        ])
    )
    private static let schema = APISchema.object(
        [("changes", .array(.object([("subject", .text())], optional: [("ramp", .object([("steps", .document)]))])))],
        optional: [
            ("default", APISchema.integer(0...10).orNull()), ("shares", shares),
            ("part", APISchema.object([("a", .bool)]).orNull()), ("any", .document),
        ]
    )

    @Test(
        arguments: [
            (#"{"changes":[]}"#, nil), (#"{"changes":[],"default":null,"any":{"x":[{"y":1}]}}"#, nil),
            (#"{"chnges":[]}"#, "chnges"), (#"{"changes":[{"subject":"a"},{"sbject":"b"}]}"#, "changes[1].sbject"),
            (#"{"changes":[{"subject":"a","ramp":{"steps":{},"evry":1}}]}"#, "changes[0].ramp.evry"),
            (#"{"shares":{"web":{"all":true}}}"#, nil), (#"{"shares":{"web":{"al":true}}}"#, "shares.web.al"),
            (#"{"part":null}"#, nil), (#"{"part":{"a":true}}"#, nil), (#"{"part":{"b":true}}"#, "part.b"),
            (#"{"changes":"no array","default":[{"x":1}]}"#, nil),
        ] as [(String, String?)]
    )
    func `is found with its path`(_ text: String, _ name: String?) throws {
        let value = try JSON(parsing: Array(text.utf8))
        #expect(Self.schema.unknownMember(in: value) == name)
    }
}
