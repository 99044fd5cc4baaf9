import PatchFormat
import PatchStore
import PatchCrypto
import PatchTesting
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@testable import PatchRelease

@Suite("What is left out of a bundle")
struct FileExclusionTests {
    @Test(arguments: [
        (".git", true, true), ("sub/.git", false, true), (".env", false, true), ("a/.env.local", false, true),
        (".DS_Store", false, true), ("app.js~", false, true), ("app/.main.js.swp", false, true),
        (".#main.js", false, true), ("#main.js#", false, true), ("a.bak", false, true),
        (".patchlineignore", false, true),
        (".well-known", true, false), ("environment.js", false, false), ("git/x.js", false, false),
        ("a.backup.js", false, false),
    ])
    func `without a word is what version control, editors and desktops leave`(
        path: String,
        isFolder: Bool,
        isOut: Bool
    ) {
        #expect(FileExclusions.standard.leaveOut(path, isFolder: isFolder) == isOut)
    }

    @Test(arguments: [
        ("*.map", "app/main.js.map", false, true), ("*.map", "map", false, false),
        ("/tests", "tests", true, true), ("/tests", "app/tests", true, false),
        ("tests/", "app/tests", true, true), ("tests/", "app/tests", false, false),
        ("app/*.ts", "app/a.ts", false, true), ("app/*.ts", "app/b/a.ts", false, false),
        ("te?t", "test", false, true), ("!.env", ".env", false, false),
    ])
    func `is what a pattern says`(pattern: String, path: String, isFolder: Bool, isOut: Bool) throws {
        let exclusions = try FileExclusions.standard.adding(pattern)
        #expect(exclusions.leaveOut(path, isFolder: isFolder) == isOut)
    }

    @Test func `is what the last pattern that matches says`() throws {
        let text = "# generated\n*.js\r\n\n!keep.js\n"
        let exclusions = try FileExclusions.standard.adding(text: text)
        #expect(exclusions.leaveOut("a.js", isFolder: false))
        #expect(!exclusions.leaveOut("app/keep.js", isFolder: false))
    }

    @Test(arguments: [
        ("/", "names nothing"), ("!", "names nothing"),
        ("**/x", "has '**'; a pattern without a slash matches at every depth already"),
        ("../x", "must name a path inside the folder, as in 'tests/*.js'"),
        ("a//b", "must name a path inside the folder, as in 'tests/*.js'"),
    ])
    func `is refused with its line where no pattern can be so`(pattern: String, rule: String) throws {
        #expect(throws: FileExclusions.PatternFault(line: 2, rule: rule)) {
            try FileExclusions.standard.adding(text: "a\n\(pattern)\n")
        }
    }

    // MARK: In a release

    private static let key = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIIFLTBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQI
        -----END ENCRYPTED PRIVATE KEY-----
        """

    private func paths(_ bench: Workbench) async throws -> [String] {
        let made = try await bench.release("v1", to: "out").verified
        return made.manifests[label("web", "1.0.0")]?.manifest.assets.map(\.path.text) ?? []
    }

    @Test func `is named, and is in no manifest`() async throws {
        let bench = try Workbench()
        try bench.describe("v1", extra: "exclude: [\"*.map\"]")
        let before = ["app/main.js", "img/café one.svg", "index.html"]
        for path in [".git/HEAD", ".env", "app/main.js~"] { try bench.write("x", to: "v1/web/\(path)") }
        try bench.write("/notes.txt\n", to: "v1/web/.patchlineignore")
        try bench.write("*.tmp\n", to: "v1/.patchlineignore")
        for path in ["notes.txt", "app/a.tmp"] { try bench.write("x", to: "v1/web/\(path)") }
        let (made, verified) = try await bench.release("v1", to: "out")
        #expect(
            made.leftOut == [
                named("web"): [
                    ".env", ".git/", ".patchlineignore", "app/a.tmp", "app/main.js.map", "app/main.js~", "notes.txt",
                ]
            ]
        )
        #expect(verified.manifests[label("web", "1.0.0")]?.manifest.assets.map(\.path.text) == before)
    }

    @Test(arguments: ["v1/web/keys/root.key", "v1/a.js"])
    func `must be a private key, or nothing is signed`(path: String) async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        if path == "v1/a.js" { try bench.files.remove(bench.folder.appending("v1/a.js")) }
        try bench.write(Self.key, to: path)
        let file = bench.folder.appending(FilePath(path).components)
        #expect(await bench.problem("v1") == .secret(file, .privateKey(.pem)))
        #expect(try bench.files.list(bench.folder) == ["Keys", "v1"])
    }

    @Test func `need not be a program that reads keys`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.write(#"key = "-----BEGIN PRIVATE KEY-----\n" + body;"#, to: "v1/web/app/rsa.js")
        try bench.write("-----BEGIN PUBLIC KEY-----\nMIIFLTBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG\n", to: "v1/web/app/own.pub")
        #expect(try await paths(bench).contains("app/rsa.js"))
    }

    @Test func `must be a release that was made before, or nothing is signed`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try await bench.release("v1", to: "v1/web/old")
        let inside = bench.folder.appending("v1/web/old")
        #expect(await bench.problem("v1") == .releaseInside(inside))
        try bench.files.removeTree(inside)
        // A file of that name that is none.
        try bench.write("{}", to: "v1/web/release.json")
        #expect(try await paths(bench).contains("release.json"))
    }
}

@Suite("The files that a release changes, by name")
struct NamedFilesTests {
    @Test func `stand below each change, twenty of a bundle unless all are asked for`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        for number in 10..<35 { try bench.write("x", to: "v1/web/many/\(number).js") }
        let contents = ReleaseContents(try await bench.release("v1", to: "one").verified)
        let difference = ReleaseDifference(from: nil, to: contents)
        let all = difference.words(showsAll: true)
        #expect(all.count(where: { $0.hasPrefix("    + ") }) == 29 && all.contains("    + many/34.js"))
        let some = difference.words(showsAll: false)
        #expect(some.count(where: { $0.hasPrefix("    + ") }) == 20)
        #expect(some.contains("    … and 9 more: --all names them"))
        #expect(!difference.words.contains { $0.hasPrefix("    ") })
    }

    @Test func `have the sign of what becomes of them`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let one = ReleaseContents(try await bench.release("v1", to: "one").verified)
        try bench.describe("v2", web: "2.0.0", main: "main(2);")
        try bench.write("x", to: "v2/web/new.js")
        try bench.files.remove(bench.folder.appending("v2/web/index.html"))
        try bench.write("x", to: "v2/web/index.html")
        let two = ReleaseContents(try await bench.release("v2", to: "two", on: "one").verified)
        let words = ReleaseDifference(from: one, to: two).words(showsAll: false)
        #expect(words.filter { $0.hasPrefix("    ") } == ["    + new.js", "    ~ app/main.js", "    ~ index.html"])
    }
}
