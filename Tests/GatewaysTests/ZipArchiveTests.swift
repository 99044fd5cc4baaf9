import Gateways
import PatchCompression
import PatchFormat
import PatchTesting
import Testing

@Suite("A zip archive")
struct ZipArchiveTests {
    private static let long = String(repeating: "var cart = total(cart)\n", count: 500)

    private static func sample() throws -> ZipArchive {
        try ZipArchive([
            .init("other.js", long), .init("main.js", "main()"), .init("empty.js", ""), .init("größe.js", "x"),
        ])
    }

    @Test func `is opened by unzip, with every name and byte`() async throws {
        let bench = try Bench()
        try bench.write(try Self.sample().bytes(), to: "a.zip")
        let tested = try bench.run("unzip -tq a.zip")
        #expect(tested.contains("No errors detected"), "\(tested)")
        try bench.run("mkdir out && cd out && unzip -q ../a.zip")
        #expect(try bench.run("ls out") == "empty.js\ngröße.js\nmain.js\nother.js\n")
        #expect(try bench.read("out/other.js") == Array(Self.long.utf8))
        #expect(try bench.read("out/main.js") == Array("main()".utf8))
        #expect(try bench.read("out/empty.js").isEmpty)
        #expect(try bench.run("stat -c %a out/main.js") == "644\n")
        #expect(try bench.run("unzip -Z1 a.zip") == "empty.js\ngröße.js\nmain.js\nother.js\n")
    }

    @Test func `has the same bytes for the same files, in whatever order they come`() throws {
        let archive = try Self.sample()
        #expect(try ZipArchive(archive.files.reversed()).bytes() == archive.bytes())
        #expect(try ZipArchive(reading: archive.bytes(), within: .tests) == archive)
        #expect(try ZipArchive([]).bytes().count == 22)
        #expect(try ZipArchive(reading: ZipArchive([]).bytes(), within: .tests).files.isEmpty)
    }

    @Test(arguments: ["", "-0", "-9", "-X", "-D"])
    func `is read as zip writes it, stored and deflated, with its times and owners`(_ options: String) async throws {
        let bench = try Bench()
        try bench.write(Array(Self.long.utf8), to: "other.js")
        try bench.write(Array("main()".utf8), to: "main.js")
        try bench.run("mkdir src; cp main.js src/deep.js; zip -q \(options) -r a.zip other.js main.js src")
        // zip appends to an archive that is there, as JSPatch's packer lets it.
        try bench.write(Array("later()".utf8), to: "later.js")
        try bench.run("zip -q \(options) a.zip later.js")
        let read = try ZipArchive(reading: try bench.read("a.zip"), within: .tests)
        #expect(
            try read
                == ZipArchive([
                    .init("other.js", Self.long), .init("main.js", "main()"), .init("src/deep.js", "main()"),
                    .init("later.js", "later()"),
                ])
        )
    }

    @Test func `takes no two files of one path`() throws {
        let file = try ZipArchive.File("main.js", "1")
        #expect(throws: ZipError.entry("main.js", .doubled)) { try ZipArchive([file, file]) }
    }
}
