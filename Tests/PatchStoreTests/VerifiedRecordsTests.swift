import PatchFormat
import PatchStore
import PatchTesting
import SystemPackage
import Testing

@Suite("Records of verified objects")
struct VerifiedRecordsTests {
    private static let header = "patchline-verified-v1\n"
    private static let first = "\(Sample.small.digest) 64769 12 9 1795000000000000001 1795000000000000002\n"
    private static let second = "\(Sample.other.digest) 64769 18446744073709551615 14 0 7\n"

    private let records: VerifiedRecords = {
        var records = VerifiedRecords()
        records[Sample.other.digest] = FileIdentity(device: 64769, inode: .max, size: 14, modified: 0, changed: 7)
        records[Sample.small.digest] = FileIdentity(
            device: 64769,
            inode: 12,
            size: 9,
            modified: 1_795_000_000_000_000_001,
            changed: 1_795_000_000_000_000_002
        )
        return records
    }()

    @Test func `are written one line a digest, in order`() {
        #expect(String(decoding: records.bytes, as: UTF8.self) == Self.header + Self.first + Self.second)
        #expect(VerifiedRecords(parsing: records.bytes) == records)
        #expect(VerifiedRecords(parsing: VerifiedRecords().bytes) == VerifiedRecords())
    }

    private static let malformed: [(String, String)] = [
        ("no header", first),
        ("nothing", ""),
        ("half a header", "patchline-verified-v1"),
        ("another version", "patchline-verified-v2\n" + first),
        ("another order", "\(header)\(second)\(first)"),
        ("a digest twice", "\(header)\(first)\(first)"),
        ("no last newline", "\(header)\(String(first.dropLast()))"),
        ("an empty line", "\(header)\n\(first)"),
        ("a carriage return", "\(header)\(first.dropLast())\r\n"),
        ("an uppercase digest", "\(header)\(first.replacing("037330d6", with: "037330D6"))"),
        ("a short digest", "\(header)\(first.dropFirst())"),
        ("a field too few", "\(header)\(first.replacing(" 12 9", with: " 12"))"),
        ("a field too many", "\(header)\(first.replacing(" 12 9", with: " 12 9 9"))"),
        ("a leading zero", "\(header)\(first.replacing(" 12 ", with: " 012 "))"),
        ("a sign", "\(header)\(first.replacing(" 12 ", with: " -12 "))"),
        ("two spaces", "\(header)\(first.replacing(" 12 ", with: "  12 "))"),
        ("a tab", "\(header)\(first.replacing(" 12 ", with: "\t12 "))"),
        ("an inode over 64 bits", "\(header)\(second.replacing("709551615", with: "709551616"))"),
        ("a time over 63 bits", "\(header)\(first.replacing("1795000000000000002", with: "9223372036854775808"))"),
        ("half a line", "\(header)\(first)\(second.prefix(40))"),
    ]

    @Test(arguments: malformed)
    func `are refused with`(_ fault: String, _ text: String) {
        #expect(VerifiedRecords(parsing: Array(text.utf8)) == nil)
    }

    @Test func `are none when the file is missing, malformed, too large or no file`() throws {
        let disk = FaultyFiles()
        try disk.makeDirectory("/app/directory")
        try disk.write(Array("{}".utf8), to: "/app/malformed")
        try disk.makeSymbolicLink("/app/link", to: "/app/malformed")
        for name in ["missing", "malformed", "directory", "link"] {
            #expect(VerifiedRecords.load(FilePath("/app/\(name)"), from: disk) == VerifiedRecords())
        }
    }

    @Test(arguments: TestDisk.allCases)
    func `are loaded as they were saved`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        try VerifiedRecords().save("verified", in: folder.path, of: folder.files)
        try records.save("verified", in: folder.path, of: folder.files)
        #expect(VerifiedRecords.load(folder("verified"), from: folder.files) == records)
    }

    @Test func `are not written for files from before 1970`() {
        var records = records
        records[Sample.empty.digest] = FileIdentity(device: 1, inode: 1, size: 0, modified: -1, changed: 1)
        #expect(VerifiedRecords(parsing: records.bytes) == self.records)
    }

    @Test func `forget objects that are gone`() {
        var records = records
        records.keep(only: [Sample.small.digest])
        #expect(records.count == 1)
        #expect(records[Sample.small.digest] != nil)
    }

    @Test func `of 100,000 objects fit into the file limit and come back equal`() throws {
        var many = VerifiedRecords()
        for number in 0..<100_000 {
            var bytes = [UInt8](repeating: 0xAB, count: 32)
            for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: (number &* 2_654_435_761) >> (index * 8)) }
            many[try #require(SHA256Digest(bytes: bytes))] = FileIdentity(
                device: 64769,
                inode: UInt64(number),
                size: number,
                modified: 1_795_000_000_000_000_000,
                changed: 1_795_000_000_000_000_000 + Int64(number)
            )
        }
        let bytes = many.bytes
        #expect(many.count == 100_000)
        #expect(bytes.count < VerifiedRecords.fileLimit)
        #expect(VerifiedRecords(parsing: bytes) == many)
    }
}
