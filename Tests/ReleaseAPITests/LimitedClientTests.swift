import HTTPCore
import Testing

@testable import ReleaseAPI

@Suite("Who shows wrong tokens")
struct AskerTests {
    private static let addresses: [(String?, [String], String)] = [
        ("192.0.2.1", [], "192.0.2.1"), ("192.0.2.1", ["10.0.0.1"], "192.0.2.1"), (nil, ["10.0.0.1"], ""),
        ("127.0.0.1", [], "127.0.0.1"), ("127.0.0.1", ["10.0.0.1"], "10.0.0.1"),
        ("127.0.0.1", ["10.9.9.9", "10.0.0.1 , 10.0.0.2"], "10.0.0.2"),
        ("127.0.0.1", ["10.0.0.1, 127.0.0.2"], "10.0.0.1"), ("127.0.0.1", ["127.0.0.2"], "127.0.0.2"),
        ("2001:db8:1:2:3::4", [], "2001:db8:1:2::/64"), ("2001:db8:1:2:ffff:0:0:1", [], "2001:db8:1:2::/64"),
        ("2001:db8::1", [], "2001:db8:0:0::/64"), ("::1", [], "0:0:0:0::/64"), ("::ffff:192.0.2.1", [], "192.0.2.1"),
        ("127.0.0.1", ["10.0.0.1:4711"], "10.0.0.1"), ("127.0.0.1", ["10.0.0.1, 127.0.0.2:80"], "10.0.0.1"),
        ("127.0.0.1", ["[2001:db8:1:2:3::4]:4711"], "2001:db8:1:2::/64"),
        ("127.0.0.1", ["unknown"], "unknown"), ("127.0.0.1", [":::"], ":::"),
    ]

    @Test(arguments: addresses)
    func `is known by an address, and by what trusted proxies say alone`(
        _ address: String?,
        _ forwarded: [String],
        _ name: String
    ) throws {
        let proxies = try #require(TrustedProxies("127.0.0.1,127.0.0.2"))
        #expect(LimitedClient(address, forwarded: forwarded, trusting: proxies).name == name)
    }

    private func client(_ number: Int) -> LimitedClient {
        LimitedClient("10.0.\(number >> 8).\(number & 255)", forwarded: [], trusting: .none)
    }

    @Test func `uses up what is theirs, and nothing of the others'`() {
        var wrong = AddressLimiter(60, ofAll: 1_200)
        let answered = (1...5_000).count { _ in wrong.take(from: client(1), at: .zero) == nil }
        #expect(answered == 60)
        #expect(wrong.take(from: client(2), at: .zero) == nil)
        #expect(wrong.take(from: client(1), at: .seconds(1)) == nil)
    }

    @Test func `from very many addresses are answered so often all together`() {
        var wrong = AddressLimiter(60, ofAll: 1_200)
        let answered = (1...5_000).count { wrong.take(from: client($0), at: .zero) == nil }
        #expect(answered == 1_200)
    }
}
