import AssetServer
import PatchFormat
import Testing

@Suite("The port of an app")
struct StablePortTests {
    /// Meteor's own, as V8 computes them; exact integers would give 12288 for the first.
    @Test(arguments: [
        ("1waqgcidafgwubeqj8o", 12_552), ("h8lzsj1n5c9q1h8sk3p", 12_456), ("zzzzzzzzzzz", 12_136),
        ("zzzzzzzzzz", 12_975),
        ("test", 12_205), ("1", 12_001), ("TEST", 12_205),
    ])
    func `is Meteor's where the id is wholly base-36`(id: String, port: Int) throws {
        #expect(StablePort.port(for: try #require(AppID(id))) == port)
    }

    /// Computed with Python's hashlib.
    ///
    /// Meteor's parsing would stop at the mark: `a-b` had 12010 there.
    @Test(arguments: [("com.example.storefront", 12_095), ("a-b", 12_200), ("My_App.1", 12_577)])
    func `is a hash's where it is not`(id: String, port: Int) throws {
        #expect(StablePort.port(for: try #require(AppID(id))) == port)
    }

    @Test func `lies from 12000 to 12999 for the longest id`() throws {
        let port = StablePort.port(for: try #require(AppID(String(repeating: "z", count: 128))))
        #expect((12_000...12_999).contains(port))
    }
}
