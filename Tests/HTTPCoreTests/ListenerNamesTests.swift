import HTTPCore
import Testing

@Suite("The names of a listener")
struct ListenerNamesTests {
    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:8081", "localhost:8081", "LOCALHOST", "localhost.:1", "a.localhost", "[::1]:8081",
        "10.0.0.7:80",
    ])
    func `on loopback are localhost and addresses, which cannot be rebound`(host: String) {
        for bound in ["127.0.0.1", "::1", "localhost", "127.0.0.9"] {
            #expect(ListenerNames(boundTo: bound, hasTLS: false).fault(host: host, origins: []) == nil)
        }
    }

    @Test(arguments: [
        "evil.example", "evil.example:8081", "127.0.0.1.evil.example", "localhost.evil.example", "xlocalhost", "",
        "[evil]:1", "1.2.3", "127.0.0.01",
    ])
    func `on loopback are no others`(host: String) {
        let names = ListenerNames(boundTo: "127.0.0.1", hasTLS: false)
        #expect(names.fault(host: host, origins: []) == .otherName)
    }

    @Test(arguments: [("127.0.0.1", true), ("0.0.0.0", false), ("10.0.0.7", false), ("patches.internal", false)])
    func `with TLS, or for other machines, are all`(bound: String, hasTLS: Bool) {
        let names = ListenerNames(boundTo: bound, hasTLS: hasTLS)
        #expect(names.fault(host: "patches.example.com", origins: []) == nil)
        #expect(names.fault(host: nil, origins: []) == nil)
    }

    @Test(arguments: [
        (["http://127.0.0.1:8081"], nil), (["HTTPS://127.0.0.1:8081"], nil), ([], nil),
        (["http://evil.example"], .foreignOrigin), (["null"], .foreignOrigin), ([""], .foreignOrigin),
        (["http://127.0.0.1:8082"], .foreignOrigin),
        (["http://127.0.0.1:8081", "http://evil.example"], ListenerNames.Fault.foreignOrigin),
    ])
    func `let pages of their own origin ask`(origins: [String], fault: ListenerNames.Fault?) {
        for names in [ListenerNames.all, ListenerNames(boundTo: "127.0.0.1", hasTLS: false)] {
            #expect(names.fault(host: "127.0.0.1:8081", origins: origins) == fault)
        }
    }
}
