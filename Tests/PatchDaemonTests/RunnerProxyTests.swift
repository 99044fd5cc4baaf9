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

    private static func proxying(
        _ rules: [String],
        _ path: FilePath?,
        files: FaultyFiles,
        _ change: (inout StoreSettings) -> Void = { _ in }
    ) throws(RunnerFault) -> APIProxy.Settings? {
        var settings = StoreSettings(name: "shop", store: "/st")
        (settings.proxy, settings.proxies) = (rules, path)
        change(&settings)
        return try settings.proxying(files)
    }

    @Test func `has the rules of its file after its own, with what only a file says`() throws {
        let files = try Self.files(
            """
            {"format": "patchline-proxies-v1", "timeoutSeconds": 5,
             "rules": [{"pattern": "/live/.*", "to": ["http://b"], "pages": {"account": "sid"}}]}
            """
        )
        let settings = try #require(try Self.proxying(["/api/.*=http://a"], "/etc/p.json", files: files))
        #expect(settings.rules.rules.map(\.pattern.text) == ["/api/.*", "/live/.*"])
        #expect(settings.rules.rules.map(\.pages?.account) == [nil, "sid"])
        #expect(settings.timeout == .seconds(5))
        let slower = try Self.proxying([], "/etc/p.json", files: files) { $0.proxyTimeout = .seconds(90) }
        #expect(slower?.timeout == .seconds(90), "the settings file wins over the file of rules")
        #expect(throws: RunnerFault.other("cannot read /etc/ca.pem: it does not exist")) {
            _ = try Self.proxying(["/api/.*=http://a"], nil, files: files) { $0.proxyCA = "/etc/ca.pem" }
        }
        let none = try Self.proxying([], nil, files: files)
        #expect(none?.rules.rules.isEmpty == nil)
    }

    @Test func `is not there when its file is none, or has too many rules`() throws {
        let files = try Self.files("{}")
        #expect(throws: RunnerFault.other("/etc/p.json: format must be a string")) {
            _ = try Self.proxying([], "/etc/p.json", files: files)
        }
        #expect(throws: RunnerFault.self) { _ = try Self.proxying([], "/etc/gone.json", files: files) }
        let full = try Self.files(
            #"{"format": "patchline-proxies-v1", "rules": [{"pattern": "/x", "to": ["http://b"]}]}"#
        )
        let own = Array(repeating: "/api/.*=http://a", count: 100)
        #expect(throws: RunnerFault.other("there are more than 100 proxy rules")) {
            _ = try Self.proxying(own, "/etc/p.json", files: full)
        }
    }
}
