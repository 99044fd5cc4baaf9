import PatchFormat
import PatchTesting
import Testing

@Suite("A device's question and its answer")
struct DeviceAnswerTests {
    private static let place = DeviceQuestion.Place(patchID: named("web"), sha256: digest(of: 1), device: digest(of: 2))

    private func answer(_ members: [(String, JSON?)] = []) -> JSON {
        var json = DeviceAnswer(
            places: [.init(patchID: named("web"), sha256: digest(of: 1), isGiven: true)],
            choices: [named("fix"): .version(digest(of: 3), isForced: true), named("web"): .hold]
        ).json
        for (field, value) in members { json = json.setting(field, to: value) }
        return json
    }

    @Test func `are read as they were written`() throws {
        for user: SHA256Digest? in [digest(of: 9), nil] {
            let question = DeviceQuestion(user: user, places: [Self.place])
            #expect(try DeviceQuestion(question.json.fileBytes) == question)
        }
        #expect(try DeviceQuestion(Array("{}".utf8)) == DeviceQuestion(user: nil, places: []))
        let read = try DeviceAnswer(answer().fileBytes)
        #expect(read.json.fileBytes == answer().fileBytes)
        #expect(read.choices == [named("fix"): .version(digest(of: 3), isForced: true), named("web"): .hold])
        #expect(read.places.map(\.isGiven) == [true])
        let unforced = try DeviceAnswer(answer([("choices.0.forced", nil)]).fileBytes)
        #expect(unforced.choices[named("fix")] == .version(digest(of: 3), isForced: false))
    }

    @Test(
        arguments: [
            ("format", .some(.text("patchline-answer-v2")), "must be patchline-answer-v1"),
            ("places", nil, "must be an array"), ("choices", nil, "must be an array"),
            ("places", .some(.array(Array(repeating: .null, count: 33))), "must hold at most 32 elements"),
            ("choices", .some(.array(Array(repeating: .null, count: 401))), "must hold at most 400 elements"),
            ("places[0].sha256", .some(.text("00")), "must be 64 lowercase hex digits"),
            ("places[0].place", nil, "must be true or false"), ("choices[0].patchId", .some(.text("..")), PatchID.rule),
            ("choices[0].sha256", nil, "must be a string"),
            ("choices[0].forced", .some(.integer(1)), "must be true or false"),
            ("choices[0].hold", .some(.bool(true)), "must be true, without sha256 and forced"),
            ("choices[1].hold", .some(.bool(false)), "must be true, without sha256 and forced"),
            ("choices[1].hold", nil, "must be a string"),
            ("choices[1].patchId", .some(.text("fix")), "must not name a patch twice"),
        ] as [(String, JSON?, String)]
    )
    func `are refused by field and rule`(_ field: String, value: JSON?, rule: String) {
        let path = field.replacing("[", with: ".").replacing("]", with: "")
        let found = #expect(throws: FormatError.self) {
            try DeviceAnswer(answer([(path, value)]).fileBytes)
        }
        #expect(found?.rule == rule)
    }

    @Test func `with more than is asked at once is no question`() {
        let places = Array(repeating: Self.place, count: 33)
        #expect(throws: FormatError("question", field: "places", rule: "must hold at most 32 elements")) {
            try DeviceQuestion(DeviceQuestion(user: nil, places: places).json.fileBytes)
        }
        let twice = [Self.place, Self.place]
        #expect(throws: FormatError("question", field: "places", rule: "must not name a version twice")) {
            try DeviceQuestion(DeviceQuestion(user: nil, places: twice).json.fileBytes)
        }
        #expect(throws: FormatError("question", field: "user", rule: "must be 64 lowercase hex digits")) {
            try DeviceQuestion(Array(#"{"user":"alice"}"#.utf8))
        }
    }

    @Test func `over their limits are refused before they are parsed`() {
        let many = [UInt8](repeating: UInt8(ascii: "["), count: Limits.answer + 1)
        #expect(throws: FormatError("answer", rule: "is over 262144 bytes")) { try DeviceAnswer(many) }
        #expect(throws: FormatError("question", rule: "is over 65536 bytes")) { try DeviceQuestion(many) }
    }
}
