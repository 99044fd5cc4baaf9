import PatchFormat
import Testing

@testable import PatchFetch

@Suite("A captive portal or proxy in a server's place")
struct InterceptionTests {
    private func sign(_ status: Int, _ location: String?, from server: String) throws -> Interception? {
        Interception(status: status, location: location, from: try #require(ServerURL(server)))
    }

    @Test(
        arguments: [301, 302, 303, 307, 308],
        ["http://login.hotel.test/?r=1", "https://portal.test", "//10.0.0.1/x", "HTTP://u@portal.test:80/"]
    )
    func `is told by a redirect to a host that has nothing to do with the server`(_ status: Int, _ to: String) throws {
        let found = try sign(status, to, from: "http://updates.example.com:8080/path")
        #expect(found == .redirect(to: to))
        #expect(found?.description == "a captive portal or proxy answers in the server's place: it redirects to \(to)")
    }

    @Test(arguments: [
        ("http://updates.example.com", "/elsewhere"), ("http://updates.example.com", "elsewhere"),
        ("http://updates.example.com", "https://updates.example.com/"),
        ("http://updates.example.com", "//Updates.Example.COM:81/"),
        ("http://updates.example.com", "https://www.updates.example.com/"),
        ("http://www.example.com", "https://example.com/"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:9/"), ("http://[::1]:8080", "http://[::1]/x"),
        // TLS proves that it is the server that answers.
        ("https://updates.example.com", "http://login.hotel.test/"),
    ])
    func `is not told by a server that moved`(_ server: String, _ to: String) throws {
        for status in [301, 302, 307, 308] { #expect(try sign(status, to, from: server) == nil, "\(status)") }
    }

    @Test func `is told by an answer that wants a login, also over TLS, and by no other status`() throws {
        for server in ["http://a.test", "https://a.test"] {
            for status in [407, 511] { #expect(try sign(status, nil, from: server) == .status(status)) }
            for status in [200, 204, 206, 300, 302, 304, 401, 403, 404, 500, 502, 503] {
                #expect(try sign(status, nil, from: server) == nil)
            }
        }
    }

    @Test func `is a fault of the network, which is tried again, and no lie of the server`() {
        for sign in [Interception.redirect(to: "http://portal.test/"), .status(511), .page] {
            let error = FetchError.intercepted("metadata/timestamp.json", sign)
            #expect(error.isNetwork && error.isWorthRetrying && error.mayBeOfThisNetwork && !error.isServerFault)
        }
        #expect(!FetchError.redirected("x", to: "/y").isNetwork)
    }

    @Test
    func `may have a certificate of its own, so another network is waited for, and nothing is tried again in this one`()
    {
        for fault in [TLSFault.wrongHostName(host: "a"), .unknownIssuer(host: "a"), .notTLS(host: "a")] {
            #expect(FetchError.tls(fault).mayBeOfThisNetwork && !FetchError.tls(fault).isWorthRetrying)
        }
        #expect(!FetchError.tls(.noAuthority).mayBeOfThisNetwork)
    }
}
