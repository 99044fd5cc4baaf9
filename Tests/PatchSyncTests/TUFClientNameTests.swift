import DeviceTesting
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// The cases of `test_quoting_issues.py` of theupdateframework/tuf-conformance, and more names.
@Suite("A TUF client and unusual names")
struct TUFClientNameTests {
    @Test(arguments: [
        ("?", "%3F"), ("#", "%23"), ("/delegatedrole", "%2Fdelegatedrole"),
        ("../delegatedrole", "..%2Fdelegatedrole"),
        // Not in the suite.
        (".", "."), ("..", ".."), ("a b", "a%20b"), ("%2e%2e", "%252e%252e"), ("Root", "Root"),
        ("root.json", "root.json"),
        ("a\\b", "a%5Cb"), ("a\nb", "a%0Ab"), ("1.root", "1.root"), ("root_history", "root_history"),
        ("caf\u{E9}", "caf%C3%A9"), ("cafe\u{301}", "cafe%CC%81"), ("~a-b_c.d", "~a-b_c.d"), ("+&=", "%2B%26%3D"),
    ])
    func `unusual role name`(role: String, quoted: String) async throws {
        let world = try TUFWorld { repository in
            repository.delegate(.init(role))
            repository.publish(role)
        }
        try await world.download(
            "nonexistent target",
            failing: .trust(.targetNotFound("nonexistent target")),
            requests: "2.root timestamp 1.snapshot 1.targets 1.\(quoted)",
            leaves: [:]
        )
        let files = ["\(quoted).json", "root.json", "root_history", "snapshot.json", "targets.json", "timestamp.json"]
        #expect(Set(try world.disk.list(TUFWorld.folder)) == Set(files))
        #expect(
            try world.disk.read(TUFWorld.folder.appending("\(quoted).json"), limit: 10_000)
                == world["metadata/1.\(quoted).json"]
        )
        // And it is found there.
        try await world.download(
            "nonexistent target",
            failing: .trust(.targetNotFound("nonexistent target")),
            requests: "2.root timestamp",
            leaves: [:]
        )
    }

    /// Not in the suite: two names that Swift takes for one.
    @Test func `names in NFC and in NFD are two roles and two targets`() async throws {
        let names = ["caf\u{E9}", "cafe\u{301}"]
        let world = try TUFWorld { repository in
            for (index, name) in names.enumerated() {
                repository.delegate(.init(name, .paths([name])))
                repository.addTarget(name, "content \(index)", to: name)
                repository.publish(name)
            }
        }
        try await world.download(
            names[0],
            names[1],
            requests: """
                2.root timestamp 1.snapshot 1.targets \
                1.caf%C3%A9 targets/\(SHA256Digest(of: Array("content 0".utf8)).hex).caf%C3%A9 \
                1.cafe%CC%81 targets/\(SHA256Digest(of: Array("content 1".utf8)).hex).cafe%CC%81
                """,
            leaves: ["caf%C3%A9": "content 0", "cafe%CC%81": "content 1"]
        )
        let one = try TUFWorld { $0.addTarget(names[0], "content") }
        try await one.download(names[1], failing: .trust(.targetNotFound(names[1])), leaves: [:])
    }

    /// Not in the suite: a target path is a URL's already, and one file name on the disk whatever it holds.
    @Test(arguments: [
        ("a b.txt", "", "a%20b.txt", "a%20b.txt"), ("dir/a b", "dir/", "a%20b", "dir%2Fa%20b"),
        ("100%25", "", "100%25", "100%2525"), ("a%2Fb", "", "a%2Fb", "a%252Fb"),
        ("caf\u{E9}", "", "caf%C3%A9", "caf%C3%A9"),
        ("a+b~c@d:e", "", "a+b~c@d:e", "a%2Bb~c%40d%3Ae"), ("a?b#c", "", "a%3Fb%23c", "a%3Fb%23c"),
        ("../../escape", "../../", "escape", "..%2F..%2Fescape"), ("/rooted", "/", "rooted", "%2Frooted"),
        ("dir/", "dir/", "", "dir%2F"), ("a\\b", "", "a%5Cb", "a%5Cb"), (".hidden", "", ".hidden", ".hidden"),
    ])
    func `unusual target path`(path: String, directory: String, name: String, file: String) async throws {
        let world = try TUFWorld { $0.addTarget(path, "content") }
        let hash = SHA256Digest(of: Array("content".utf8)).hex
        try await world.download(
            path,
            requests: "2.root timestamp 1.snapshot 1.targets targets/\(directory)\(hash).\(name)",
            leaves: [file: "content"]
        )
    }

    /// Not in the suite: no file can have these names, so their files are named by digest.
    @Test(arguments: [".", "..", "", String(repeating: "é", count: 43), String(repeating: "a", count: 256)])
    func `a target path that no file can be named by still stays in its folder`(path: String) async throws {
        let world = try TUFWorld { $0.addTarget(path, "content") }
        let file = "%sha256-\(SHA256Digest(of: Array(path.utf8)).hex)"
        try await world.download(path, leaves: [file: "content"])
        #expect(try world.disk.list("/") == ["downloads", "metadata"])
    }

    /// Not in the suite: the longest name that a file can have.
    @Test(arguments: [String(repeating: "a", count: 255), String(repeating: "a", count: 249) + "é"])
    func `a target path of 255 encoded bytes names its file`(path: String) async throws {
        let world = try TUFWorld { $0.addTarget(path, "content") }
        try await world.download(path, leaves: [URLLayout.percentEncoded(path): "content"])
    }
}
