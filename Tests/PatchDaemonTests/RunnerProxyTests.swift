import APIProxy
import PatchStore
import PatchTesting
import SystemPackage
import Testing

@testable import PatchDaemon

@Suite("The proxy of a store that the daemon keeps")
struct RunnerProxyTests {
    private static func files(_ text: String) throws -> FaultyFiles {
        let files = FaultyFiles()
        try files.makeDirectory("/etc")
        try files.write(Array(text.utf8), to: "/etc/p.json")
        return files
    }

    @Test func `has the rules of its file after its own, with what only a file says`() throws {
        let files = try Self.files(
            """
            {"format": "patchline-proxies-v1", "timeoutSeconds": 5,
             "rules": [{"pattern": "/live/.*", "to": ["http://b"], "pages": {"account": "sid"}}]}
            """
        )
        let settings = try #require(try RunnerFault.proxying(["/api/.*=http://a"], "/etc/p.json", files: files))
        #expect(settings.rules.rules.map(\.pattern.text) == ["/api/.*", "/live/.*"])
        #expect(settings.rules.rules.map(\.pages?.account) == [nil, "sid"])
        #expect(settings.timeout == .seconds(5))
        let none = try RunnerFault.proxying([], nil, files: files)
        #expect(none?.rules.rules.isEmpty == nil)
    }

    @Test func `is not there when its file is none, or has too many rules`() throws {
        let files = try Self.files("{}")
        #expect(throws: RunnerFault.other("/etc/p.json: format must be a string")) {
            _ = try RunnerFault.proxying([], "/etc/p.json", files: files)
        }
        #expect(throws: RunnerFault.self) { _ = try RunnerFault.proxying([], "/etc/gone.json", files: files) }
        let full = try Self.files(
            #"{"format": "patchline-proxies-v1", "rules": [{"pattern": "/x", "to": ["http://b"]}]}"#
        )
        let own = Array(repeating: "/api/.*=http://a", count: 100)
        #expect(throws: RunnerFault.other("there are more than 100 proxy rules")) {
            _ = try RunnerFault.proxying(own, "/etc/p.json", files: full)
        }
    }
}
