import HTTPCore
import Testing

@testable import APIProxy

private func matches(_ pattern: String, _ path: String) throws -> Bool {
    try ProxyPattern(pattern).matches(try RequestPath(parsing: path))
}

@Suite("A rule's pattern")
struct ProxyPatternTests {
    @Test(arguments: [
        ("/api/.*", "/api/items/3", true), ("/api/.*", "/api/", true), ("/api/.*", "/api", false),
        ("/api/.*", "/x/api/items", false), ("/api/.*", "/apis/x", false), ("^/api/.*$", "/api/x", true),
        ("/api", "/api/x", false), ("/api(/.*)?", "/api", true), ("/api(?:/.*)?", "/api/x", true),
        ("/(a|bc|)/x", "/bc/x", true), ("/(a|bc)/x", "/b/x", false),
        ("/v[0-9]+/.*", "/v12/x", true), ("/v\\d{2}/.*", "/v1/x", false), ("/v\\d{2,}/.*", "/v123/x", true),
        ("/v\\d{1,2}", "/v123", false), ("/[^/]+/x", "/a/b/x", false), ("/[^/]+/x", "/ab/x", true),
        ("/[a-c-]+", "/a-c", true), ("/[]x]", "/x", true), ("/\\w+\\.json", "/a_1.json", true),
        ("/\\w+\\.json", "/a_1xjson", false), ("/\\S+", "/a%20b", false), ("/caf\u{e9}", "/caf%C3%A9", true),
        ("/a.c", "/a%C3%A9c", true), ("/a+?b", "/aab", true), ("(/a)*", "/a/a", true), ("/(a*)*b", "/aaab", true),
        ("/api/.*", "/api/../secret", false), ("/api/.*", "/api/%2e%2e/secret", false), ("/a/b", "/a//b", true),
    ])
    func `matches the whole of a decoded path, or not`(pattern: String, path: String, expected: Bool) throws {
        #expect(try matches(pattern, path) == expected)
    }

    /// A backtracking matcher does not return.
    @Test(.timeLimit(.minutes(10)), arguments: ["/(a+)+b", "/(a|a)*b", "/(a*)*(a*)*b", "/(.*)*(.*)*(.*)*x"])
    func `takes no time that grows faster than the path`(pattern: String) throws {
        let path = try RequestPath(parsing: "/" + String(repeating: "a", count: 4_000))
        let parsed = try ProxyPattern(pattern)
        #expect(!parsed.matches(path))
    }

    @Test(arguments: [
        ("", PatternError.empty), ("^$", .empty), ("/(a", .unbalanced(at: 1)), ("/a)", .unbalanced(at: 2)),
        ("/[a", .unbalanced(at: 1)), ("/a]", .unbalanced(at: 2)), ("*a", .nothingToRepeat(at: 0)),
        ("/a**", .nothingToRepeat(at: 3)), ("/a{2,1}", .badRange(at: 2)), ("/a{x}", .badRange(at: 2)),
        ("/[z-a]", .badRange(at: 1)), ("/(?=a)", .unsupported(at: 1)), ("/(a)\\1", .unsupported(at: 4)),
        ("/\\ba", .unsupported(at: 1)), ("/a$b", .unsupported(at: 2)), ("/a\\", .unsupported(at: 2)),
        ("/(a{4000}){4000}", .tooLarge), ("/a{99999999}", .tooLarge),
        (String(repeating: "(", count: 100) + String(repeating: ")", count: 100), .tooLarge),
        (String(repeating: "a", count: 513), .tooLong), ("api", .noPath), ("[a-z]+/.*", .noPath), ("(a|b)?c", .noPath),
    ])
    func `is refused with its reason`(pattern: String, error: PatternError) {
        #expect(throws: error) { try ProxyPattern(pattern) }
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            ("((((){4096}){4096}){4096}){4096}", PatternError.nothingToRepeat(at: 5)),
            ("/(){4}", .nothingToRepeat(at: 3)), ("/(|)*", .nothingToRepeat(at: 4)),
            ("/(|(|()))+", .nothingToRepeat(at: 9)), ("/(a{0}){4096}", .nothingToRepeat(at: 7)),
            ("/((a{0})?){4096}", .nothingToRepeat(at: 8)),
            ("/(a{1000}){1000}", .tooLarge), ("/((((a?){64}){64}){64}){64}", .tooLarge),
            ("/(((a|){64}){64}){64}", .tooLarge), ("/(a|||||||||){1000}", .tooLarge),
            ("/(a()()()()()()()()()()()()()()()()()()()()){1000}", .tooLarge),
            ("/(a" + String(repeating: "()", count: 200) + "){1000}", .tooLarge),
            ("/(a*){1024}", .tooLarge), ("/a{1025}", .tooLarge), ("/a{0,1025}", .tooLarge),
            ("/a{9223372036854775808}", .badRange(at: 2)), ("/a{1024}{1024}", .nothingToRepeat(at: 8)),
        ] as [(String, PatternError)]
    )
    func `that stopped a device is refused at once`(pattern: String, error: PatternError) {
        #expect(throws: error) { try ProxyPattern(pattern) }
    }

    private static let letters = String(repeating: "ab", count: 200)
    /// Characters of which no two are neighbours, so that each is a range of its own.
    private static let apart = String(
        String.UnicodeScalarView((0..<200).compactMap { (number: UInt16) in UnicodeScalar(0x4E00 + 2 * number) })
    )

    @Test(arguments: [
        "/(a?){400}(a?){100}.*x", "/(.?){500}x", "/(a*)*(a*)*(a|a|a)*x", "/([\(letters)]?){300}x",
        "/([\(apart)a]?){300}x",
    ])
    func `holds each character against at most 1,024 steps`(pattern: String) throws {
        let program = try PatternProgram(PatternParser.parse(Array(pattern.unicodeScalars)))
        let text = "/" + String(repeating: "a", count: 8_000)
        let (matches, work) = program.run(text.unicodeScalars)
        #expect(!matches && work <= PatternProgram.maxSteps * (text.utf8.count + 1) && PatternProgram.maxSteps == 1_024)
    }

    @Test(arguments: [
        ("[b-da-c]", "bcda", "e"), ("[a-zc-dA]", "adzA", "B{"), ("[^b-da-c]", "ezA", "abcd"),
        ("[9x1-35]", "9x1235", "4 608"), ("[a-cb-bb]", "abc", "d"),
    ])
    func `tells a class's characters however its ranges overlap`(set: String, inside: String, outside: String) throws {
        for scalar in inside { #expect(try matches("/\(set)", "/\(scalar)"), "\(scalar)") }
        for scalar in outside where scalar != " " { #expect(try !matches("/\(set)", "/\(scalar)"), "\(scalar)") }
    }

    @Test(arguments: [
        ("/api/v1/.*", ["api", "v1"]), ("/api", ["api"]), ("/api/", ["api"]), ("/api.*", []), ("/(a|b)/.*", []),
        (".*", []), ("[^a]*", []), ("(x|/)y", []), ("/a/b(/.*)?", ["a"]), ("/a\\.b/.*", ["a.b"]), ("/a|/b", []),
    ])
    func `begins with whole names`(pattern: String, prefix: [String]) throws {
        #expect(try ProxyPattern(pattern).prefix == prefix)
    }

    @Test(arguments: [
        ("/.*", "/shop/.*"), (".*", "/a|/b"), ("/.*", "(/a|/b)"), ("/.*?", "[/]a"), ("^/.*$", "/"),
        ("/shop/.*", "/shop/.*"), ("/shop/.*", "/shop/cart"), ("/shop.*", "/shop/.*"), ("/a\\.b.*", "/a[.]bc"),
        ("/(a|b)", "/(a|b)"), ("/a", "^/a$"), ("/shop/.*", "/shop/(a|b)?"), ("/s.*", "/shop{2}"),
    ])
    func `covers another that matches nothing else`(pattern: String, other: String) throws {
        #expect(try ProxyPattern(pattern).covers(ProxyPattern(other)))
    }

    @Test(arguments: [
        ("/shop/.*", "/.*"), ("/shop/.*", "/shop"), ("/shop/.*", "/shop/?"), ("/shop/.*", "/shop/*x"),
        ("/shop/.*", "/shop/{0,1}"), ("/shop/.*", "/shop/|/other"), ("/shop/.*", "(/shop/a|/other)"),
        ("/shop/.+", "/shop/"), ("/shop/.", "/shop/.*"), ("/a.b.*", "/a.b/c"), ("/[ab].*", "/a"),
        ("/a.*|/b", "/a/c"), ("/shop/.*x", "/shop/x"), ("/a.*/.*", "/a/b"), ("/Shop/.*", "/shop/a"),
        ("/[^a].*", "/b"), ("/shop/(.*)", "/shop/a"),
    ])
    func `covers none of which that is not certain`(pattern: String, other: String) throws {
        #expect(try !ProxyPattern(pattern).covers(ProxyPattern(other)))
    }
}
