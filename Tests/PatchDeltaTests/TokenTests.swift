import PatchFormat
import Testing

@testable import PatchDelta

@Suite("Tokens of names")
struct TokenTests {
    private static let pairs: [(old: String, new: String, tokens: [String])] = [
        ("static/main.5176981c.js", "static/main.8abd5fdc.js", ["5176981c>8abd5fdc"]),
        ("a/index-zaYCB7m6.js", "b/index-CZy-fyXs.js", ["zaYCB7m6>CZy-fyXs"]),
        ("c.BZOAm-8L.js", "c.BZpguiqt.js", ["BZOAm-8L>BZpguiqt"]),
        ("x.abcdef.js", "x.abcxyz.js", ["abcdef>abcxyz"]),
        ("x.1.js", "x.22222.js", []),
        ("same.js", "same.js", []),
        ("v1-beta/app.js", "v2-beta/app.js", []),
        ("build-aaaa/app.1234.js", "build-bbbb/app.5678.js", ["aaaa>bbbb", "1234>5678"]),
        ("deep/er/app.1234.js", "app.5678.js", ["1234>5678"]),
    ]

    @Test(arguments: pairs)
    func `are what differs between two paths, with the letters and digits beside it`(
        old: String,
        new: String,
        tokens: [String]
    ) throws {
        let found = Tokens.pairs(try AssetPath(old), try AssetPath(new))
        #expect(found.map { String(decoding: $0.old + [0x3E] + $0.new, as: UTF8.self) } == tokens)
    }

    private func tokens(_ pairs: KeyValuePairs<String, String>) -> Tokens {
        var tokens = Tokens()
        for (old, new) in pairs { tokens.insert((Array(old.utf8), Array(new.utf8))) }
        return tokens
    }

    private static let texts: [(text: String, result: String)] = [
        ("", ""), ("abc", "abc"), ("abcd", "1111"), ("xabcdx", "x1111x"), ("abcdabcd", "11111111"),
        ("abcdef", "222222"), ("abcde", "1111e"), ("ababcd", "ab1111"), ("abcabcd", "abc1111"), ("zzzzz", "longerz"),
        ("efghabcdzzzz", "efgh1111longer"), ("abcdefzzz", "222222zzz"),
    ]

    @Test(arguments: texts)
    func `are put in from left to right, the longest that fits`(text: String, result: String) {
        let tokens = tokens(["abcd": "1111", "abcdef": "222222", "zzzz": "longer", "1111": "no!!"])
        #expect(TokenSearch(tokens).put(into: Array(text.utf8), limit: 100) == Array(result.utf8))
    }

    @Test func `have the first new one where an old one has two`() {
        let tokens = tokens(["abcd": "1111", "abcd": "2222"])
        #expect(TokenSearch(tokens).put(into: Array("abcd".utf8), limit: 4) == Array("1111".utf8))
        #expect(tokens.contradict((Array("abcd".utf8), Array("2222".utf8))))
        #expect(!tokens.contradict((Array("abcd".utf8), Array("1111".utf8))))
    }

    @Test func `make no more bytes than they may`() {
        let tokens = tokens(["abcd": "longer than before"])
        #expect(TokenSearch(tokens).put(into: Array("abcdabcd".utf8), limit: 35) == nil)
        #expect(TokenSearch(tokens).put(into: Array("abcdabcd".utf8), limit: 36)?.count == 36)
        #expect(TokenSearch(tokens).put(into: Array("abcd!!!!".utf8), limit: 21) == nil)
        #expect(TokenSearch(Tokens()).put(into: [1, 2], limit: 1) == nil)
    }
}

extension TokenTests {
    /// What the definition says, place by place.
    private func slowly(_ pairs: [(old: [UInt8], new: [UInt8])], _ bytes: [UInt8]) -> [UInt8] {
        var (output, place) = ([UInt8](), 0)
        while place < bytes.count {
            let found = pairs.filter { bytes[place...].starts(with: $0.old) }.max { $0.old.count < $1.old.count }
            output += found?.new ?? [bytes[place]]
            place += found?.old.count ?? 1
        }
        return output
    }

    @Test func `are put in as the definition says, into any bytes`() {
        for seed in 0..<200 {
            var numbers = SampleNumbers(seed)
            var (tokens, pairs) = (Tokens(), [(old: [UInt8], new: [UInt8])]())
            for _ in 0..<numbers.next(below: 12) {
                let old = Array(numbers.text(4 + numbers.next(below: 4), of: "ab").utf8)
                let new = Array(numbers.text(4 + numbers.next(below: 9), of: "ab12").utf8)
                tokens.insert((old, new))
                if !pairs.contains(where: { $0.old == old }) { pairs.append((old, new)) }
            }
            let text = Array(numbers.text(numbers.next(below: 300), of: "abb").utf8)
            #expect(TokenSearch(tokens).put(into: text, limit: 10_000) == slowly(pairs, text))
        }
    }
}
