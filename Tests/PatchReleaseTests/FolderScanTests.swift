import PatchFormat
import PatchRelease
import PatchStore
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@Suite("A bundle's folder")
struct FolderScanTests {
    private func scan(_ bench: Workbench) throws(SigningError) -> [String] {
        try FolderScan(bench.folder.appending("web"), files: DiskFiles()).files.map(\.path.text)
    }

    @Test func `is read whole, sorted by UTF-8 bytes, with what well-known names reach`() throws {
        let bench = try Workbench()
        for name in ["b.js", "a/z.js", "a-b.js", ".well-known/x", "é.js", "Z.js"] {
            try bench.write("x", to: "web/\(name)")
        }
        #expect(try scan(bench) == [".well-known/x", "Z.js", "a-b.js", "a/z.js", "b.js", "é.js"])
    }

    @Test func `is refused when it holds a symbolic link`() async throws {
        let bench = try Workbench()
        try bench.write("x", to: "web/a.js")
        let link = bench.folder.appending("web/b.js")
        #expect(try await tool("ln", ["-s", "a.js", link.string]).succeeded)
        #expect(throws: SigningError.bundle(.symbolicLink(link))) { try scan(bench) }
    }

    @Test func `is refused when it holds a pipe`() async throws {
        let bench = try Workbench()
        try bench.write("x", to: "web/a.js")
        let pipe = bench.folder.appending("web/pipe")
        #expect(try await tool("mkfifo", [pipe.string]).succeeded)
        #expect(throws: SigningError.bundle(.special(pipe))) { try scan(bench) }
    }

    @Test(arguments: [
        ("a\\b.js", AssetPath.Problem.backslash), ("a\nb.js", .control), ("cafe\u{301}.js", .notNFC),
    ])
    func `is refused for the name`(_ name: String, problem: AssetPath.Problem) throws {
        let bench = try Workbench()
        try bench.write("x", to: "web/\(name)")
        #expect(throws: SigningError.bundle(.badName(bench.folder.appending("web/\(name)"), problem))) {
            try scan(bench)
        }
    }

    @Test func `is refused for a name that is not UTF-8`() async throws {
        let bench = try Workbench()
        try bench.write("x", to: "web/a.js")
        let web = bench.folder.appending("web")
        #expect(try await tool("sh", ["-c", "printf x > \"$(printf '\(web)/\\377.js')\""]).succeeded)
        #expect(throws: SigningError.bundle(.notUTF8(in: web, name: [0xFF, 0x2E, 0x6A, 0x73]))) { try scan(bench) }
    }

    @Test func `is refused for paths that the device answers itself`() throws {
        let bench = try Workbench()
        try bench.write("x", to: "web/__patchline/launch.js")
        #expect(throws: SigningError.bundle(.reserved(bench.folder.appending("web/__patchline")))) { try scan(bench) }
    }

    @Test func `is refused when it is empty`() throws {
        let bench = try Workbench()
        try DiskFiles().makeDirectory(bench.folder.appending("web/a"))
        #expect(throws: SigningError.bundle(.empty(bench.folder.appending("web")))) { try scan(bench) }
    }

    @Test(arguments: [
        ("README.md", "readme.MD"), ("STRASSE.js", "straße.js"),
    ])
    func `is refused for paths that differ in case only`(
        _ one: String,
        other: String
    ) async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.write("x", to: "v1/web/\(one)")
        try bench.write("x", to: "v1/web/\(other)")
        #expect(
            await bench.problem("v1")
                == .twins(try AssetPath(one), try AssetPath(other), in: bench.folder.appending("v1/web"))
        )
        #expect(try DiskFiles().list(bench.folder) == ["Keys", "v1"])
    }

    @Test func `is refused without its index`() async throws {
        let bench = try Workbench()
        try bench.describe("v1", extra: "index: app.html")
        let index = try AssetPath("app.html")
        let pages = [try AssetPath("index.html")]
        #expect(await bench.problem("v1") == .noIndex(index, in: bench.folder.appending("v1/web"), pages: pages))
    }

    @Test func `may not be reached through a symbolic link`() async throws {
        let bench = try Workbench()
        try bench.describe("v1", extra: "index: index.html")
        let web = bench.folder.appending("v1/web")
        try DiskFiles().rename(web, to: bench.folder.appending("elsewhere"))
        #expect(try await tool("ln", ["-s", "../elsewhere", web.string]).succeeded)
        #expect(await bench.problem("v1") == .symbolicLink(web))
    }

    @Test func `becomes a manifest with URLs, types, source maps and cacheable assets`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let manifest = try #require(try await bench.release("v1", to: "out").verified.manifests[label("web", "1.0.0")])
            .manifest
        #expect(
            manifest.assets.map(\.url) == [
                "/app/main.js", "/app/main.js.map", "/img/caf%C3%A9%20one.svg", "/index.html",
            ]
        )
        #expect(manifest.assets.map(\.type) == [.js, .map, .asset, .html])
        #expect(manifest.assets.map(\.cacheable) == [true, true, false, false])
        #expect(manifest.assets.map { $0.sourceMap?.text } == ["app/main.js.map", nil, nil, nil])
        #expect(manifest.created == nil)
    }

    @Test func `with a script that is not UTF-8 is refused`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let script = bench.folder.appending("v1/a.js")
        try DiskFiles().remove(script)
        try DiskFiles().write([0xFF, 0xFE], to: script)
        #expect(await bench.problem("v1") == .scriptNotUTF8(script))
    }
}
