import Testing

@testable import HTTPCore

@Suite("A server's name")
struct ServerNameTests {
    @Test(arguments: [
        ("updates.test", ["updates.test"]), ("Updates.TEST", ["updates.test"]), ("updates.test.", ["UPDATES.test"]),
        ("updates.test", ["other.test", "*.test"]), ("localhost", ["localhost"]), ("updates.test", ["updates.test."]),
        ("[::1]", []), ("127.0.0.1", []),
    ])
    func `is one of the certificate's DNS names; an address is the TLS library's to check`(
        host: String,
        names: [String]
    ) {
        #expect(ServerName(host: host).isNamed(by: names))
    }

    @Test(arguments: [
        ("localhost", []), ("updates.test", ["test", "*.updates.test", "updates", "xupdates.test", "u*.test", "*"]),
        ("a.b.test", ["*.test"]), (".test", ["*.test"]), ("", [""]), ("test", ["*.test", "*."]),
        ("a.", ["*."]), ("kiosk.test", ["\u{212A}iosk.test"]),
    ])
    func `is nothing else: no part of one, and a star is a whole first label`(host: String, names: [String]) {
        #expect(!ServerName(host: host).isNamed(by: names))
    }

    @Test func `is read from the field that a request goes to`() {
        #expect(ServerName(authority: "Updates.test:8443") == ServerName(host: "Updates.test"))
        #expect(ServerName(authority: "updates.test").name == "updates.test")
        #expect(ServerName(authority: "[::1]:8443").name == nil)
        #expect(ServerName(authority: "127.0.0.1:80").name == nil)
        #expect(ServerName(authority: "").isNamed(by: ["updates.test", ""]) == false)
    }
}
