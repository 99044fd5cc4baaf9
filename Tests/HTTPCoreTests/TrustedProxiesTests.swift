import HTTPCore
import Testing

@testable import HTTPFiles

@Suite("Proxies that are trusted")
struct TrustedProxiesTests {
    private static let askers: [(address: String, forwarded: [String], client: String)] = [
        // Nobody's word counts but a proxy's, and of its word the last that is no proxy.
        ("192.0.2.1", ["198.51.100.1"], "192.0.2.1"), ("127.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("127.0.0.1", ["6.6.6.6, 198.51.100.1"], "198.51.100.1"), ("127.0.0.1", [], "127.0.0.1"),
        ("127.0.0.1", ["6.6.6.6", "198.51.100.1, 10.1.2.3", "10.255.255.255"], "198.51.100.1"),
        ("127.0.0.1", ["198.51.100.1, 11.0.0.1"], "11.0.0.1"), ("127.0.0.1", ["10.0.0.1"], "10.0.0.1"),
        // However an address is written.
        ("::ffff:127.0.0.1", ["2001:db8::1"], "2001:db8::1"),
        ("2001:DB8:0:7:0:0:0:1", ["198.51.100.1"], "198.51.100.1"),
        ("2001:db8:0:8::1", ["198.51.100.1"], "2001:db8:0:8::1"), ("fe80::1%eth0", ["198.51.100.1"], "198.51.100.1"),
        // Some proxies write the port of the client.
        ("127.0.0.1", ["198.51.100.1:50123"], "198.51.100.1"), ("127.0.0.1", ["[2001:db8::9]:443"], "2001:db8::9"),
        ("127.0.0.1", ["\t198.51.100.1 "], "198.51.100.1"),
        // What is no address is a name like any other, and no longer than an address.
        ("127.0.0.1", ["unknown"], "unknown"), ("127.0.0.1", ["a b"], "a"), ("-", ["198.51.100.1"], "-"),
        ("127.0.0.1", [String(repeating: "x", count: 500)], String(repeating: "x", count: 45)),
    ]

    @Test(arguments: askers.indices)
    func `say who asks`(_ index: Int) throws {
        let row = Self.askers[index]
        let proxies = try #require(TrustedProxies("127.0.0.1,10.0.0.0/8,2001:db8:0:7::/64,fe80::1"))
        #expect(proxies.client(at: row.address, forwarded: row.forwarded) == row.client)
    }

    @Test(arguments: [
        "", ",", "127.0.0.1,", "localhost", "127.0.0.1 ,::1", "10.0.0.0/33", "10.0.0.0/0", "10.0.0.1/8", "::/129",
        "10.0.0/8", "010.0.0.1", "1.2.3.4.5", "256.0.0.1", ":::", "1::2::3", "1:2:3:4:5:6:7", "12345::", "::+1",
        "10.0.0.0/",
        "10.0.0.0/8/8",
    ])
    func `are addresses and networks, or are refused`(_ text: String) {
        #expect(TrustedProxies(text) == nil)
    }

    @Test func `are counted of IPv6 by the network of a customer, however it is written`() {
        let names = ["2001:db8:1:2:3::4", "2001:0DB8:1:2:ffff::", "2001:db8:1:2::192.0.2.1"].map { ClientName($0).text }
        #expect(names == Array(repeating: "2001:db8:1:2::/64", count: 3))
    }
}
