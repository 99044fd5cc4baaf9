import PatchFormat
import PatchTesting
import Testing

@Suite("Online parameters")
struct OnlineParametersTests {
    @Test func `are read from the vector, and written as the same bytes`() throws {
        let bytes = try Vectors.bytes("parameters/parameters.json")
        let parameters = try OnlineParameters(bytes)
        #expect(parameters.json.canonicalBytes == bytes)
        #expect(try OnlineParameters(parameters.json.fileBytes) == parameters)
        #expect(
            parameters.values == [
                named("cart.limit"): .integer(20), named("checkout"): .bool(false),
                named("sale.banner"): .text("Sale until 8 ’p.m.’"), named("x-offset"): .integer(1 - 1 << 53),
            ]
        )
    }

    @Test(arguments: [1 << 53, -(1 << 53), .max, .min])
    func `are no integers that some readers of JSON round`(number: Int) throws {
        #expect(ParameterValue(.integer(number)) == nil)
        let json = try Vectors.json("parameters/parameters.json").setting("parameters.x-offset", to: .integer(number))
        #expect(throws: FormatError.self) { try OnlineParameters(json.fileBytes) }
        let largest = ParameterValue.integer((1 << 53 - 1) * number.signum())
        #expect(ParameterValue(largest.json) == largest)
    }

    @Test func `are different where the bytes of a text are`() {
        #expect(ParameterValue.text("caf\u{E9}") != .text("cafe\u{301}"))
    }

    private static let tooLong = String(repeating: "é", count: 2_048) + "x"

    @Test(
        arguments: [
            ("format", .some(.text("patchline-dial-v1")), "format", "must be patchline-parameters-v1"),
            ("app", .some(.text("")), "app", AppID.rule),
            ("channel", .some(.text("dial")), "channel", ChannelName.rule),
            ("parameters", nil, "parameters", "must be an object"),
            ("parameters", .some(.array([])), "parameters", "must be an object"),
            ("parameters.checkout", .some(.null), "parameters.checkout", ParameterValue.rule),
            ("parameters.checkout", .some(.array([])), "parameters.checkout", ParameterValue.rule),
            ("parameters.checkout", .some(.fields([])), "parameters.checkout", ParameterValue.rule),
            ("parameters.checkout", .some(.text(tooLong)), "parameters.checkout", ParameterValue.rule),
        ] as [(String, JSON?, String, String)]
    )
    func `are refused by field and rule`(_ field: String, value: JSON?, named: String, rule: String) throws {
        let json = try Vectors.json("parameters/parameters.json").setting(field, to: value)
        #expect(throws: FormatError("parameters", field: named, rule: rule)) { try OnlineParameters(json.fileBytes) }
    }

    @Test(arguments: ["", "..", ".", "a b", "a/b", "é", String(repeating: "a", count: 65)])
    func `are refused for a name that is none`(name: String) throws {
        let json = try Vectors.json("parameters/parameters.json")
            .setting("parameters", to: .object(JSONObject([(name, .bool(true))])))
        let rule = "has a name that \(ParameterName.rule)"
        #expect(throws: FormatError("parameters", field: "parameters", rule: rule)) {
            try OnlineParameters(json.fileBytes)
        }
    }

    @Test func `may have the longest name and text, and 256 values, and not one more`() throws {
        func document(_ count: Int) throws -> [UInt8] {
            let members = (0..<count).map { ("\($0)", JSON.integer($0)) }
            return try Vectors.json("parameters/parameters.json")
                .setting("parameters", to: .object(JSONObject(members))).fileBytes
        }
        #expect(try OnlineParameters(try document(256)).values.count == 256)
        #expect(throws: FormatError("parameters", field: "parameters", rule: "must hold at most 256 members")) {
            try OnlineParameters(try document(257))
        }
        #expect(ParameterValue(.text(String(repeating: "é", count: 2_048))) != nil)
        #expect(ParameterName(String(repeating: "a", count: 64)) != nil)
    }

    @Test(
        arguments: [
            (#"{"format":"patchline-parameters-v1","app":"a","channel":"b","parameters":{"x":1,"x":2}}"#, false),
            (#"{"format":"patchline-parameters-v1","app":"a","channel":"b","parameters":{"x":1.5}}"#, false),
            (#"{"format":"patchline-parameters-v1","app":"a","channel":"b","parameters":{},"later":[1]}"#, true),
        ]
    )
    func `have no double name and no fraction, and may have members that are unknown yet`(text: String, isRead: Bool) {
        #expect(((try? OnlineParameters(Array(text.utf8))) != nil) == isRead)
    }

    @Test func `over their limit are refused before they are parsed`() {
        let bytes = [UInt8](repeating: UInt8(ascii: "["), count: Limits.parameters + 1)
        #expect(throws: FormatError("parameters", rule: "is over 65536 bytes")) { try OnlineParameters(bytes) }
    }
}
