import PatchCompression
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTesting
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@testable import PatchRelease

@Suite("A bundle's folder with what nobody meant")
struct BundleFolderTests {
    private func release(_ bench: Workbench, _ name: String = "v1") async throws -> (
        paths: [String], warnings: [String]
    ) {
        let (made, verified) = try await bench.release(name, to: "out-\(name)")
        let assets = verified.manifests[label("web", "1.0.0")]?.manifest.assets ?? []
        let own = ["app/main.js", "app/main.js.map", "img/café one.svg", "index.html"]
        return (
            assets.map(\.path.text).filter { !own.contains($0) },
            made.warnings.map { "\($0)".replacing("\(bench.folder)/\(name)/", with: "") }
        )
    }

    // MARK: Left out by default

    @Test func `has settings, secrets and leftovers left out with one warning, and what include names taken`()
        async throws
    {
        let bench = try Workbench()
        try bench.describe("v1", extra: #"include: [".config/app.json", ".nojekyll"]"#)
        for path in [
            ".npmrc", ".aws/credentials", ".well-known/x", "node_modules/a/index.js", "app/npm.log", ".config/app.json",
            ".config/other.json", ".nojekyll", "a.js~",
        ] { try bench.write("x", to: "v1/web/\(path)") }
        let (paths, warnings) = try await release(bench)
        #expect(paths == [".config/app.json", ".nojekyll", ".well-known/x"])
        #expect(
            warnings == [
                "release.yaml:9: patches[2].folder: 5 files and folders of web left out by default: .aws/, .npmrc, a.js~, "
                    + "app/npm.log, node_modules/; `include:` adds one again"
            ]
        )
    }

    @Test(arguments: ["\u{FEFF}notes.txt\r\nmissing.txt  \r\n", "\u{FEFF}notes.txt\nmissing.txt  "])
    func `is read with an ignore file of any editor, whose patterns without a match are named`(text: String)
        async throws
    {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.write("x", to: "v1/web/notes.txt")
        try bench.write(text, to: "v1/.patchlineignore")
        let (paths, warnings) = try await release(bench)
        #expect(paths == [])
        #expect(warnings == [".patchlineignore:2: matches no file: missing.txt"])
    }

    @Test func `has source maps by choice`() async throws {
        let bench = try Workbench()
        try bench.describe("v1", extra: "source-maps: leave-out")
        let made = try await bench.release("v1", to: "out").made
        #expect(made.leftOut == [named("web"): ["app/main.js.map"]])
        try bench.describe("v2")
        try bench.files.remove(bench.folder.appending("v2/web/app/main.js.map"))
        try bench.write(#"{"sources":["a.ts"],"sourcesContent":["x"]}"#, to: "v2/web/app/main.js.map")
        #expect(
            try await release(bench, "v2").warnings == [
                "release.yaml:6: patches[2].source-maps: 1 source map with the app's source code in web: app/main.js.map; "
                    + "write `source-maps: include` or `leave-out`"
            ]
        )
    }

    // MARK: Compressed files

    @Test(arguments: [("gzip -c", ".gz"), ("zstd -qc", ".zst")])
    func `keeps compressed files that hold the plain one, and leaves out others`(tool: String, ending: String)
        async throws
    {
        let bench = try Workbench()
        try bench.describe("v1")
        for name in ["same", "old", "short", "garbage"] { try bench.write("new(1)", to: "v1/web/\(name).js") }
        let script = """
            cd '\(bench.folder)/v1/web'; printf 'new(1)' | \(tool) >same.js\(ending); printf 'old(1)' | \(tool) >old.js\(ending)
            head -c 8 same.js\(ending) >short.js\(ending); echo garbage >garbage.js\(ending); printf x | \(tool) >alone.data\(ending)
            echo garbage >bad.data\(ending)
            """
        #expect(try await PatchReleaseTests.tool("sh", ["-c", script]).succeeded)
        let (paths, warnings) = try await release(bench)
        #expect(
            paths == [
                "alone.data\(ending)", "bad.data\(ending)", "garbage.js", "old.js", "same.js", "same.js\(ending)",
                "short.js",
            ]
        )
        #expect(
            warnings == [
                "release.yaml:9: patches[2].folder: 1 compressed file differs from its plain one and was left out of web: "
                    + "old.js\(ending) (old.js); compress after the last change",
                "release.yaml:9: patches[2].folder: 2 files are not of the type in the file name and left out: garbage.js\(ending), "
                    + "short.js\(ending)",
                "release.yaml:9: patches[2].folder: 1 file is not of the type in the file name: bad.data\(ending)",
            ]
        )
    }

    @Test func `reads brotli`() throws {
        // Of "new(1)", stored: one block that is the last.
        let stream: [UInt8] = [0x8B, 0x02, 0x80] + Array("new(1)".utf8) + [0x03]
        let disk = DiskFiles()
        let bench = try Workbench()
        let file = bench.folder.appending("a.js.br")
        try disk.write(stream, to: file)
        let twin = try #require(CompressedTwin(try AssetPath("a.js.br"), file))
        #expect(twin.plain?.text == "a.js")
        #expect(try twin.judgement(plain: Fingerprint(of: Array("new(1)".utf8)), of: disk) == .same)
        #expect(try twin.judgement(plain: Fingerprint(of: Array("old(1)".utf8)), of: disk) == .stale)
        #expect(try twin.judgement(plain: Fingerprint(of: Array("new".utf8)), of: disk) == .stale)
        try disk.remove(file)
        try disk.write(Array(stream.dropLast(3)), to: file)
        #expect(try twin.judgement(plain: Fingerprint(of: Array("new(1)".utf8)), of: disk) == .damaged)
    }

    // MARK: Names and links

    @Test func `is refused with all of its names and links at once, and with the commands that rename`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let web = bench.folder.appending("v1/web")
        try bench.write("x", to: "v1/web/u\u{308}/o\u{308}.js")
        try bench.write("x", to: "v1/web/INDEX.html")
        #expect(try await tool("ln", ["-s", "index.html", web.appending("link.html").string]).succeeded)
        let problem = try #require(await bench.problem("v1"))
        #expect(
            problem.groups.map(\.sentence) == [
                "\(web)/link.html is a symbolic link; a release contains only files and folders",
                "2 names that are not in Unicode normal form C: $'\(web)/u\\xcc\\x88', $'\(web)/u\\xcc\\x88/o\\xcc\\x88.js'; "
                    + "each looks like its form C",
                "\(web): index.html equals INDEX.html after case folding",
            ]
        )
        #expect(
            problem.groups.map(\.renaming) == [
                nil,
                "mv -n -- $'\(web)/u\\xcc\\x88/o\\xcc\\x88.js' $'\(web)/u\\xcc\\x88/\\xc3\\xb6.js'\n"
                    + "mv -n -- $'\(web)/u\\xcc\\x88' \(web)/ü",
                "mv -n -- \(web)/index.html \(web)/2-index.html",
            ]
        )
    }

    @Test func `follows links that stay inside where the description says so`() async throws {
        let bench = try Workbench()
        try bench.describe("v1", extra: "links: follow")
        let web = bench.folder.appending("v1/web").string
        try bench.write("x", to: "v1/web/shared/a.js")
        try bench.write("x", to: "v1/web/.env")
        let links = "ln -s index.html home.html; ln -s ../shared app/lib"
        #expect(try await tool("sh", ["-c", "cd '\(web)'; \(links)"]).succeeded)
        #expect(try await release(bench).paths == ["app/lib/a.js", "home.html", "shared/a.js"])
        let bad = "ln -s /etc/hostname out; ln -s nowhere gone; ln -s .. app/up; ln -s .env settings.txt"
        #expect(try await tool("sh", ["-c", "cd '\(web)'; \(bad)"]).succeeded)
        let folder = bench.folder.appending("v1/web")
        let problems = await bench.problem("v1")?.each.map { "\($0)" }.sorted()
        #expect(
            problems == [
                "\(folder)/app/up is a symbolic link to a folder that it is in",
                "\(folder)/gone is a symbolic link that leads nowhere",
                "\(folder)/out leads out of the bundle's folder, to /etc/hostname",
                "\(folder)/settings.txt leads to .env, which is left out",
            ]
        )
    }

    @Test func `warns of names that Windows cannot store`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        for name in ["aux.js", "a:b.js", "COM1", "console.js"] { try bench.write("x", to: "v1/web/\(name)") }
        #expect(
            try await release(bench).warnings == [
                "release.yaml:9: patches[2].folder: 3 names that Windows cannot store in web: COM1, a:b.js, aux.js; devices accept them"
            ]
        )
    }
}

@Suite("What is said of a bundle's folder")
struct BundleWordsTests {
    private static func twice(_ problem: (FilePath) -> BundleProblem) -> BundleProblem {
        .several([problem("web/a"), problem("web/b")])
    }

    private static func sentences() throws -> [(BundleProblem, String)] {
        let (a, b) = (try AssetPath("a"), try AssetPath("A"))
        return [
            (
                twice { .link($0, .outside("/etc")) },
                "2 symbolic links that lead out of the bundle's folder: web/a (to /etc), web/b (to /etc)"
            ),
            (twice { .link($0, .nowhere) }, "2 symbolic links that lead nowhere: web/a, web/b"),
            (twice { .link($0, .circle) }, "2 symbolic links to folders that they are in: web/a, web/b"),
            (
                twice { .link($0, .leftOut(".env")) },
                "2 symbolic links to files that are left out: web/a (to .env), web/b (to .env)"
            ),
            (twice { .special($0) }, "2 entries that are neither files nor folders: web/a, web/b"),
            (twice { .badName($0, .backslash) }, "2 names with a backslash: web/a, web/b"),
            (twice { .badName($0, .control) }, "2 names with a control character: web/a, web/b"),
            (twice { .badName($0, .segmentTooLong) }, "2 names over 255 bytes: web/a, web/b"),
            (twice { .badName($0, .tooLong) }, "2 paths over 1,024 bytes: web/a, web/b"),
            (twice { .notUTF8(in: $0, name: [0xFF]) }, "2 names that are not UTF-8: $'web/a/\\xff', $'web/b/\\xff'"),
            (twice { .twins(a, b, in: $0) }, "2 paths that equal another after case folding: A (a), A (a)"),
            (twice { .reserved($0) }, "2 paths below __patchline/: web/a, web/b; they belong to the device"),
            (
                twice { .releaseInside($0) },
                "2 signed releases: web/a, web/b; they would be signed and published again as files"
            ),
            (
                twice { .secret($0, .privateKey(.javaKeyStore)) },
                "2 files with secrets: web/a (a private key (a Java key store)), web/b (a private key (a Java key store)); "
                    + "anyone could read them once they are published"
            ),
            (
                twice { .archived($0, ArchivedSecret(Array("x/.env".utf8), .settings)) },
                "2 files with secrets: web/a: x/.env (settings that are secret by their name), web/b: x/.env (settings that "
                    + "are secret by their name); anyone could read them once they are published"
            ),
        ]
    }

    @Test func `is one message for all problems of a kind`() throws {
        for (problem, sentence) in try Self.sentences() { #expect(problem.groups.map(\.sentence) == [sentence]) }
    }

    @Test func `lists twenty names, and one command for many`() {
        let names = (1...30).map { BundleProblem.notUTF8(in: "web", name: [0xFC, UInt8($0 + 32)]) }
        let group = BundleProblem.several(names).groups[0]
        #expect(group.sentence.hasSuffix(" and 10 more"))
        #expect(
            group.renaming?.hasSuffix(
                "\n… and 25 more in the same way\nconvmv -r -f latin1 -t utf-8 --notest web renames all of them (package convmv)"
            ) == true
        )
    }

    @Test func `is one warning for each note`() throws {
        let (folder, a, b) = (try AssetPath("web"), try AssetPath("a.js.gz"), try AssetPath("a.js"))
        #expect(
            BundleNote.stale([a, a], of: [b, b]).rule(in: folder)
                == ": 2 compressed files differ from their plain ones and were left out of web: a.js.gz (a.js), a.js.gz (a.js); "
                + "compress after the last change"
        )
        #expect(
            BundleNote.browserKeys([b]).rule(in: folder)
                == ": an API key of Google is in a.js; anyone can read it, so restrict it to this app"
        )
        #expect(
            BundleNote.sources([b, a]).rule(in: folder)
                == ": 2 source maps with the app's source code in web: a.js, a.js.gz; write `source-maps: include` or `leave-out`"
        )
        let place = BundleNote.FileLine(path: b, line: 3, column: 7)
        #expect(
            BundleNote.hostNames([place], more: 2).rule(in: folder)
                == ": the host's name is compared with localhost at a.js:3:7 and 2 more; a device's pages are at NAME.localhost, so they "
                + "are treated as on a public site: `patchsync set --host localhost` opens them at localhost"
        )
    }

    @Test func `is one warning for all linked manifests of a kind`() throws {
        let links = [
            LinkedManifests.Link(page: try AssetPath("a.html"), target: "app.json"),
            LinkedManifests.Link(page: try AssetPath("b.html"), target: "b.json"),
        ]
        #expect(
            BundleNote.manifests(links).rule(in: try AssetPath("web"))
                == ": 2 linked web app manifests are signed as "
                + "application/manifest+json, which devices serve without their cookie: app.json (a.html), b.json (b.html); "
                + "write `headers: {app.json: {Content-Type: application/manifest+json}}` to confirm"
        )
        #expect(
            BundleNote.missingManifests(links).rule(in: try AssetPath("web"))
                == ": 2 linked web app manifests are not in web, or not a JSON object: app.json (a.html), b.json (b.html); "
                + "browsers request it without cookies, so devices refuse it: add the file, or "
                + "crossorigin=\"use-credentials\" to the link"
        )
    }

    @Test func `is one warning for all archives that are not searched`() throws {
        let gaps = [
            BundleArchives.Gap(path: try AssetPath("a.zip"), reason: .encrypted),
            BundleArchives.Gap(path: try AssetPath("b.tgz"), reason: .tooLarge),
        ]
        #expect(
            BundleNote.unsearched(gaps).rule(in: try AssetPath("web"))
                == ": 2 archives were only partly searched for secrets: a.zip (encrypted), b.tgz (too large); "
                + "name those without secrets in `allow-secrets:`"
        )
    }

    @Test func `is one warning if no page confirms the version`() throws {
        #expect(
            BundleNote.unconfirmed.rule(in: try AssetPath("web"))
                == ": no file of web calls `patchline.confirm()`, so devices roll back each update 20 seconds after it is "
                + "shown; call it once the page works, or write `confirmed-by: program` if a program confirms"
        )
    }

    @Test func `advises no pattern that takes files twice`() {
        #expect(throws: FileExclusions.PatternFault(line: 0, rule: "begins with '!', but `include:` adds files anyway"))
        {
            try FileExclusions.none.including("!a")
        }
    }
}
