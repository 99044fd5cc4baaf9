import PatchFormat
import Testing

@testable import CommandKit

@Suite("A patch on the command line")
struct PatchReferenceTests {
    @Test(arguments: [("web", nil), ("web@2.1.0", "2.1.0"), ("fix.cart_total-1@a+b", "a+b")])
    func `is named alone or with a version`(_ text: String, _ version: String?) throws {
        let reference = try PatchReference(parsing: text)
        #expect(reference.version?.text == version)
        #expect(reference.description == text)
    }

    @Test(arguments: ["", "@1", "web@", "web@1@2", "we b", "web@1 2", ".", "web@.."])
    func `is refused otherwise`(_ text: String) {
        #expect(throws: (any Error).self) { try PatchReference(parsing: text) }
    }

    @Test func `has one version, by the name or by the option`() throws {
        let (one, two) = (try #require(VersionLabel("1")), try #require(VersionLabel("2")))
        let web = try PatchReference(parsing: "web")
        #expect(try web.version(or: nil) == nil)
        #expect(try web.version(or: one) == one)
        let first = try PatchReference(parsing: "web@1")
        #expect(try first.version(or: nil) == one)
        #expect(try first.version(or: one) == one)
        #expect(throws: (any Error).self) { try first.version(or: two) }
    }
}
