import Gateways
import PatchFormat
import PatchTesting
import Testing

@Suite("A tar archive")
struct TarArchiveTests {
    private static let bounds = TarArchive.Bounds(archive: 20_480, entries: 3)

    private static func archive(_ files: (String, String)...) throws -> TarArchive {
        try TarArchive(try files.map { try .init($0.0, Array($0.1.utf8)) })
    }

    private static func read(_ bytes: [UInt8], within bounds: TarArchive.Bounds = bounds) throws(TarError) -> TarArchive
    {
        try TarArchive(reading: bytes, within: bounds)
    }

    /// An archive of one file `a.js`, with this done to its header and, unless `keepsSum`, the checksum made again.
    private static func forged(_ size: Int = 3, keepsSum: Bool = false, _ forge: (inout [UInt8]) -> Void) throws
        -> [UInt8]
    {
        var bytes = try archive(("a.js", String(repeating: "x", count: size))).bytes
        forge(&bytes)
        guard !keepsSum else { return bytes }
        bytes.replaceSubrange(148..<156, with: Array("        ".utf8))
        let sum = String(bytes[..<512].reduce(0) { $0 + Int($1) }, radix: 8)
        bytes.replaceSubrange(148..<156, with: Array((String(repeating: "0", count: 6 - sum.count) + sum + "\0 ").utf8))
        return bytes
    }

    @Test func `is what tar lists and unpacks, and the same each time`() async throws {
        let long = String(repeating: "n", count: 97) + ".js"
        let files = [("b.js", "b()\n"), ("a.js", ""), ("größe.js", String(repeating: "x", count: 512)), (long, "1")]
        let archive = try TarArchive(try files.map { try .init($0.0, Array($0.1.utf8)) })
        let bench = try Bench()
        try bench.write(archive.bytes, to: "a.tar")
        let listed = try bench.run("TZ=UTC tar --numeric-owner --quoting-style=literal -tvf a.tar")
        #expect(listed.hasPrefix("-rw-r--r-- 0/0               0 1970-01-01 00:00 a.js\n"), "\(listed)")
        try bench.run("mkdir out; tar -xf a.tar -C out")
        for (name, text) in files { #expect(try bench.read("out/\(name)") == Array(text.utf8)) }
        #expect(try TarArchive(files.reversed().map { try .init($0.0, Array($0.1.utf8)) }).bytes == archive.bytes)
        #expect(try Self.read(archive.bytes, within: .init(archive: 20_480, entries: 4)) == archive)
        #expect(try TarArchive([]).bytes == [UInt8](repeating: 0, count: 1_024))
    }

    @Test(arguments: ["--format=ustar", "--format=gnu", "--format=v7 --owner=0", ""])
    func `of tar's is read, of its formats those that name themselves`(_ format: String) async throws {
        let bench = try Bench()
        try bench.run("echo 'a()' >a.js; echo 'b()' >b.js; tar \(format) -cf a.tar b.js a.js")
        let bytes = try bench.read("a.tar")
        guard !format.contains("v7") else {
            #expect(throws: TarError.header(1, .notTar)) { try Self.read(bytes) }
            return
        }
        #expect(try Self.read(bytes) == Self.archive(("a.js", "a()\n"), ("b.js", "b()\n")))
    }

    @Test(arguments: [
        ("ln -s a.js l; tar -cf a.tar l", TarError.entry("l", .symbolicLink)),
        ("ln a.js l; tar -cf a.tar a.js l", .entry("l", .hardLink)),
        ("mkdir d; tar -cf a.tar d", .entry("d/", .folder)),
        ("mkdir d; cp a.js d; tar -cf a.tar d/a.js", .entry("d/a.js", .nested)),
        ("mkfifo p; tar -cf a.tar p", .entry("p", .special(0x36))),
        ("tar -cf a.tar ./a.js", .entry("./a.js", .name(.dotSegment))),
        ("tar -P -cf a.tar --transform 's,^,/,' a.js", .entry("/a.js", .name(.absolute))),
        ("tar -P -cf a.tar --transform 's,^,../,' a.js", .entry("../a.js", .name(.dotSegment))),
        ("tar -cf a.tar a.js a.js", .entry("a.js", .hardLink)),
        ("tar -cf a.tar --hard-dereference a.js a.js", .entry("a.js", .doubled)),
        (
            "n=$(printf %0101d 0); cp a.js $n; tar --format=gnu -cf a.tar $n",
            .entry("././@LongLink", .special(0x4C))
        ), ("tar --format=posix -cf a.tar a.js", .entry("./PaxHeaders/a.js", .special(0x78))),
        (
            "n=$(printf %0090d 0); mkdir $n; cp a.js $n/a-long-name; tar --format=ustar -cf a.tar $n/a-long-name",
            .header(1, .prefix)
        ),
        ("truncate -s 1M h; tar -S -cf a.tar h", .header(1, .prefix)),
        ("cp a.js b; cp a.js c; cp a.js d; tar -cf a.tar a.js b c d", .tooMany(limit: 3)),
        ("head -c 20000 /dev/zero >z; tar -cf a.tar z", .tooLarge(limit: 20_480)),
        ("tar -cf t a.js; head -c 1024 t >a.tar", .noEnd), ("tar -cf t a.js; head -c 1536 t >a.tar", .noEnd),
        ("tar -cf t a.js; head -c 1000 t >a.tar", .length(1_000)), ("touch a.tar", .length(0)),
        ("tar -b 4 -cf t a.js; cat t t >a.tar", .bytesBehind),
        ("head -c 1024 /dev/urandom >a.tar", .header(1, .notTar)),
    ])
    func `with more in it than files side by side is refused`(_ making: String, _ error: TarError) async throws {
        let bench = try Bench()
        try bench.run("echo 'a()' >a.js; \(making)")
        let bytes = try bench.read("a.tar")
        #expect(throws: error) { try Self.read(bytes) }
    }

    @Test func `that was altered is refused, by what is wrong in it`() throws {
        let cases: [([UInt8], TarError)] = [
            (try Self.forged(keepsSum: true) { $0[0] = 0x62 }, .header(1, .checksum)),
            (
                try Self.forged(keepsSum: true) { $0.replaceSubrange(148..<156, with: Array("zzzzzz\0 ".utf8)) },
                .header(1, .checksum)
            ),
            (try Self.forged { $0[0] = 0xFF }, .header(1, .nameNotUTF8)),
            (try Self.forged { $0[10] = 0x61 }, .header(1, .nameNotUTF8)),
            (try Self.forged { $0[0] = 0 }, .header(1, .nameNotUTF8)),
            (try Self.forged { $0.replaceSubrange(0..<5, with: [0, 0, 0, 0, 0]) }, .entry("", .name(.empty))),
            (try Self.forged { $0[257] = 0 }, .header(1, .notTar)),
            (try Self.forged { $0[100] = 0x39 }, .header(1, .number("mode"))),
            (try Self.forged { $0[108] = 0x39 }, .header(1, .number("owner"))),
            (try Self.forged { $0[116] = 0x39 }, .header(1, .number("group"))),
            (try Self.forged { $0[136] = 0x2D }, .header(1, .number("time"))),
            (try Self.forged { $0[124] = 0x80 }, .header(1, .number("size"))),
            (
                try Self.forged { $0.replaceSubrange(124..<136, with: [UInt8](repeating: 0x37, count: 12)) },
                .header(1, .number("size"))
            ),
            (try Self.forged { $0[400] = 1 }, .header(1, .prefix)),
            (try Self.forged { $0[157] = 0x61 }, .entry("a.js", .linked)),
            (try Self.forged { $0[156] = 0x67 }, .entry("a.js", .special(0x67))),
            (try Self.forged { $0[512 + 3] = 1 }, .entry("a.js", .padding)),
            (
                try Self.forged { $0.replaceSubrange(124..<135, with: Array("77777777777".utf8)) },
                .entry("a.js", .breaksOff(8_589_934_591 - 1_536))
            ),
            (
                try Self.forged { $0.replaceSubrange(124..<135, with: Array("00000003001".utf8)) },
                .entry("a.js", .breaksOff(1))
            ),
            (try Self.forged { $0.replaceSubrange(124..<135, with: Array("00000003000".utf8)) }, .noEnd),
            (try Self.forged { $0 += [UInt8](repeating: 0, count: 511) + [1] }, .bytesBehind),
        ]
        for (bytes, error) in cases { #expect(throws: error) { try Self.read(bytes) } }
        #expect(try Self.read(Self.forged { $0 += [UInt8](repeating: 0, count: 512) }) == Self.archive(("a.js", "xxx")))
    }

    @Test func `takes no names but short ones, each once`() {
        for (name, rule) in [
            ("", TarError.EntryRule.name(.empty)), ("a/b", .nested), ("..", .name(.dotSegment)),
            ("a\\b", .name(.backslash)),
            (String(repeating: "n", count: 101), .nameTooLong), ("a\u{0}", .name(.control)),
        ] { #expect(throws: TarError.entry(name, rule)) { try TarArchive.File(name, []) } }
        #expect(throws: TarError.entry("a", .doubled)) { try Self.archive(("a", "1"), ("a", "2")) }
    }
}
