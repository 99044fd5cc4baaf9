import PatchFormat
import Testing

@testable import PatchRuntime

@Suite("A source map")
struct SourceMapTests {
    /// Line 2 of the script, from column 3 on, is line 11, column 5 of `cart.ts`; from column 9 on line 12, column 1.
    private static let map = #"{"version":3,"sources":["cart.ts","other.ts"],"names":[],"mappings":";EAUI,MACJ"}"#

    private func script(_ map: String) -> String {
        "defineClass('Cart', { total() {\n  throw new Error('no') } })\n//# sourceMappingURL=data:application/json;base64,"
            + Base64.text(Array(map.utf8)) + "\n"
    }

    @Test
    func `leads from a place in the script to the one that it was made from`() throws {
        let map = try #require(SourceMap(Array(Self.map.utf8)))
        #expect(map.original(line: 2, column: 3) == .init(file: "cart.ts", line: 11, column: 5))
        #expect(map.original(line: 2, column: 8) == .init(file: "cart.ts", line: 11, column: 5))
        #expect(map.original(line: 2, column: 9) == .init(file: "cart.ts", line: 12, column: 1))
        #expect(map.original(line: 2, column: 1) == nil)
        #expect(map.original(line: 1, column: 1) == nil)
        #expect(map.original(line: 9, column: 1) == nil)
    }

    @Test
    func `in a script's last line says where its failures are`() throws {
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(script(Self.map))
        let failure = try #require(throws: PatchFailure.self) { try shop.total(cart) }
        #expect(failure.description == "first 1: Error: no (cart.ts:12:1)")
    }

    @Test(arguments: [
        "", "{}", "[1]", #"{"version":2,"sources":[],"mappings":""}"#, #"{"version":3,"sources":[5],"mappings":""}"#,
        #"{"version":3,"sources":["a"],"mappings":"!"}"#, #"{"version":3,"sources":["a"],"mappings":"gggggggggggggA"}"#,
        #"{"version":3,"sources":["a"],"mappings":"g"}"#, #"{"version":3,"sources":[],"mappings":"AAAA"}"#,
        #"{"version":3,"sources":["a"],"mappings":"AADA"}"#,
    ])
    func `that is none is as good as no map`(_ text: String) throws {
        #expect(SourceMap(Array(text.utf8)) == nil)
        let (shop, cart) = (try SampleShop(), Cart())
        shop.run(script(text))
        let failure = try #require(throws: PatchFailure.self) { try shop.total(cart) }
        #expect(failure.description == "first 1: Error: no (first.js:2:18)")
    }

    @Test
    func `is bounded`() {
        let many = #"{"version":3,"sources":["a"],"mappings":""# + String(repeating: "AAAA,", count: 500_001) + "\"}"
        #expect(SourceMap(Array(many.utf8)) == nil)
        #expect(SourceMap([UInt8](repeating: UInt8(ascii: " "), count: SourceMap.largest + 1)) == nil)
    }
}
