import PatchFormat
import Testing

/// J7: the grammar of the original, strict; the table of the sources is what separates its two readers.
@Suite("A condition")
struct ConditionTests {
    private static let facts = [
        "ios": "9.3", "ispad": "0", "region": "eu", "userid": "42", "name": "Ann Lee", "v": "10",
    ]

    private func holds(_ text: String) throws(Condition.Problem) -> Bool {
        let facts = Self.facts.map { key, value in
            guard let key = ConditionKey(key), let value = ConditionValue(value) else { preconditionFailure(key) }
            return (key, value)
        }
        return try Condition(text).holds(for: Dictionary(uniqueKeysWithValues: facts))
    }

    @Test(
        arguments: [
            ("region==eu", true), ("region==us", false), ("region!=us", true), ("region!=eu", false),
            // By text: the same number written in another way is another text.
            ("v==10", true), ("v==10.0", false), ("v!=10.0", true),
            // By number, as a double: both differ in the Android sister of the original.
            ("ios>=10.0", false), ("v>9.5", true), ("ios<10", true), ("ios<=9.3", true), ("ios>9.3", false),
            ("ios>=9.30", true), ("v>-1", true), ("v<-1.5", false),
            // A value that is no number is neither above nor below one.
            ("region>=0", false), ("region<0", false), ("region<=0", false),
        ] as [(String, Bool)]
    )
    func `compares text by == and !=, and numbers by size`(text: String, holds expected: Bool) throws {
        #expect(try holds(text) == expected)
    }

    @Test(arguments: ["tester==1", "tester!=1", "tester>0", "tester<=0", "1!=2"])
    func `with a key that the device does not know is false, even for !=`(text: String) throws {
        #expect(try !holds(text))
    }

    @Test(
        arguments: [
            ("region==us&&v==10||ispad==0", true), ("ispad==0||region==us&&v==11", true),
            ("region==eu&&v==11||ispad==1", false), ("ispad==1||region==eu&&v==10", true),
            ("region==eu||region==eu&&v==11", true), ("region==us||region==eu&&v==11", false),
        ] as [(String, Bool)]
    )
    func `binds && tighter than ||`(text: String, holds expected: Bool) throws {
        #expect(try holds(text) == expected)
    }

    @Test(
        arguments: [
            ("ios&gt;9.0&amp;&amp;region==eu", true), ("ios&lt;9.0", false), ("ios&lt;=9.3", true),
            ("v&gt;=10||v&lt;1", true), ("region==us&amp;&amp;v==10", false),
        ] as [(String, Bool)]
    )
    func `reads &gt; &lt; and &amp; as their characters`(text: String, holds expected: Bool) throws {
        #expect(try holds(text) == expected)
    }

    @Test func `decodes an entity once`() {
        #expect(throws: Condition.Problem.value("a==&lt;")) { try holds("a==&amp;lt;") }
    }

    @Test(arguments: ["USERID==42", "UserId==42", "userid==42"])
    func `takes a key in any case`(text: String) throws {
        #expect(try holds(text))
    }

    @Test func `takes a value in its own case alone`() throws {
        #expect(try !holds("region==EU"))
    }

    @Test func `takes no notice of spaces around keys and values, and keeps those inside`() throws {
        #expect(try holds("  region ==  eu  &&  name==Ann Lee "))
        #expect(try !holds("name==Ann  Lee"))
    }

    /// To Swift's `==` on strings both are one.
    @Test func `tells texts apart by their bytes`() throws {
        let composed = try #require(ConditionValue("caf\u{E9}"))
        let decomposed = try #require(ConditionValue("cafe\u{301}"))
        let key = try #require(ConditionKey("x"))
        #expect(try Condition("x==caf\u{E9}").holds(for: [key: composed]))
        #expect(try !Condition("x==caf\u{E9}").holds(for: [key: decomposed]))
    }

    @Test(
        arguments: [
            ("", .malformed("")), ("region", .malformed("region")), ("region=eu", .malformed("region=eu")),
            ("region==eu&&", .malformed("")), ("||region==eu", .malformed("")), ("a==1&&&b==2", .key("&b==2")),
            ("a==1|b==2", .value("a==1|b==2")), ("a==1&b==2", .value("a==1&b==2")),
            ("(a==1)", .key("(a==1)")), ("a==1)", .value("a==1)")), ("a==b==c", .value("a==b==c")),
            ("a==", .value("a==")), ("==1", .key("==1")), ("a b==1", .key("a b==1")), ("é==1", .key("é==1")),
            ("a==1\u{7}", .value("a==1\u{7}")), ("a===1", .value("a===1")), ("!a==1", .key("!a==1")),
            ("ios>nine", .notANumber("ios>nine")), ("ios>9.3.1", .notANumber("ios>9.3.1")),
            ("ios>1e3", .notANumber("ios>1e3")), ("ios>0x10", .notANumber("ios>0x10")),
            ("ios>nan", .notANumber("ios>nan")), ("ios>inf", .notANumber("ios>inf")), ("ios>.5", .notANumber("ios>.5")),
            ("ios>5.", .notANumber("ios>5.")), ("ios>-", .notANumber("ios>-")), ("ios>+5", .notANumber("ios>+5")),
        ] as [(String, Condition.Problem)]
    )
    func `that is malformed is refused by the comparison that is`(text: String, problem: Condition.Problem) {
        #expect(throws: problem) { try Condition(text) }
    }

    @Test func `has at most 4,096 bytes and 64 comparisons`() throws {
        let comparisons = [String](repeating: "a==1", count: 64)
        _ = try Condition(comparisons.joined(separator: "||"))
        #expect(throws: Condition.Problem.tooManyComparisons) {
            try Condition((comparisons + ["a==1"]).joined(separator: "&&"))
        }
        let value = String(repeating: "x", count: 240)
        let long = [String](repeating: "a==\(value)", count: 17).joined(separator: "||")
        #expect(long.utf8.count > 4_096)
        #expect(throws: Condition.Problem.tooLong) { try Condition(long) }
        #expect(throws: Condition.Problem.tooLong) { try Condition(String(repeating: "&", count: 4_097)) }
    }

    @Test(arguments: [String(repeating: "k", count: 64) + "==1", "a==" + String(repeating: "v", count: 256)])
    func `has keys of at most 64 bytes and values of at most 256`(text: String) throws {
        _ = try Condition(text)
        let longer = text.replacing("k=", with: "kk=").replacing("=v", with: "=vv")
        #expect(throws: Condition.Problem.self) { try Condition(longer) }
    }
}
