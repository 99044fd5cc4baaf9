import PatchFormat
import Testing

@Suite("An app version")
struct AppVersionTests {
    @Test(arguments: [
        ("2.1", "2.1.0"), ("0", "0.0.0"), ("2", "2.0"), ("02.01", "2.1"), ("1.2.3.4.5.6.7.8", "1.2.3.4.5.6.7.8"),
    ])
    func `counts missing parts as 0`(_ one: String, other: String) {
        #expect(version(one) == version(other))
        #expect(Set([version(one), version(other)]).count == 1)
        #expect(version(one).description == one)
    }

    @Test(arguments: [
        ("1", "2"), ("2.9", "2.10"), ("2.1", "2.1.1"), ("0.0.1", "0.1"), ("2.99", "3"), ("999999998", "999999999"),
    ])
    func `is ordered by its numbers`(_ lower: String, higher: String) {
        #expect(version(lower) < version(higher))
        #expect(!(version(higher) < version(lower)))
    }

    @Test(arguments: [
        "", ".", "1.", ".1", "1..2", "1.a", "v1", "-1", "+1", " 1", "1 ", "1.2-rc1", "1000000000", "1.2.3.4.5.6.7.8.9",
        "１", "1\u{301}", "1\n",
    ])
    func `is dotted integers and nothing else`(_ text: String) {
        #expect(AppVersion(text) == nil)
    }
}

@Suite("An app version range")
struct AppVersionRangeTests {
    @Test(arguments: [
        (">=2.1 <3", ["2.1", "2.1.0", "2.99.9"], ["2.0.9", "3", "3.0.0", "3.1"]),
        (">2.1", ["2.1.1", "3"], ["2.1", "2.1.0", "2"]),
        ("<=2.1", ["2.1", "2.1.0", "1"], ["2.1.0.1", "3"]),
        ("<2.1", ["2.0.9"], ["2.1", "2.1.0"]),
        ("=2.1", ["2.1", "2.1.0"], ["2.1.1", "2"]),
        ("!=2.1", ["2", "2.1.1"], ["2.1", "2.1.0"]),
        (">=1 !=1.5 <2", ["1.4", "1.6"], ["1.5.0", "2", "0.9"]),
        (">2 <1", [], ["0", "1.5", "3"]),
    ])
    func `holds what all of its comparators hold`(_ text: String, inside: [String], outside: [String]) throws {
        let range = try #require(AppVersionRange(text))
        #expect(range.text == text)
        #expect(inside.filter { !range.contains(version($0)) } == [])
        #expect(outside.filter { range.contains(version($0)) } == [])
    }

    @Test(arguments: [
        "", " ", "2.1", ">=", ">= 2", ">=2  <3", " >=2", ">=2 ", "~>2", "^2", "==2", "=>2", ">=2,<3", ">=2 or <1",
        ">=2.x", "!2", "<>2", "≥2", ">=2\t<3",
    ])
    func `is comparators joined by single spaces and nothing else`(_ text: String) {
        #expect(AppVersionRange(text) == nil)
    }
}
