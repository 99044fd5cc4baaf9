import PatchFormat
import PatchStore
import PatchTesting
import SystemPackage
import Testing

@Suite("Records of verified objects")
struct VerifiedRecordsTests {
    private static let header = Array("patchline-verified-v2\n".utf8)
    private static let first = row(
        .small,
        "000000000000fd01 000000000000000c 0000000000000009 18e91b1a4c2f0001 18e91b1a4c2f0002"
    )
    private static let second = row(
        .other,
        "000000000000fd01 ffffffffffffffff 000000000000000e 0000000000000000 0000000000000007"
    )

    private static func row(_ sample: Sample, _ numbers: String) -> [UInt8] {
        sample.digest.bytes + (Hex.bytes(numbers.filter { $0 != " " }) ?? [])
    }

    private let records: VerifiedRecords = {
        var records = VerifiedRecords()
        records[Sample.other.digest] = FileIdentity(device: 64769, inode: .max, size: 14, modified: 0, changed: 7)
        records[Sample.small.digest] = FileIdentity(
            device: 64769,
            inode: 12,
            size: 9,
            modified: 0x18e9_1b1a_4c2f_0001,
            changed: 0x18e9_1b1a_4c2f_0002
        )
        return records
    }()

    @Test func `are written one row a digest, in order`() {
        #expect(records.bytes == Self.header + Self.first + Self.second)
        #expect(VerifiedRecords(parsing: records.bytes) == records)
        #expect(VerifiedRecords(parsing: VerifiedRecords().bytes) == VerifiedRecords())
    }

    private static let malformed: [(String, [UInt8])] = [
        ("no header", first),
        ("nothing", []),
        ("half a header", Array(header.dropLast())),
        ("another version", Array("patchline-verified-v1\n".utf8) + first),
        ("another order", header + second + first),
        ("a digest twice", header + first + first),
        ("half a row", header + first + second.prefix(40)),
        ("a byte more", header + first + [0]),
        ("a time over 63 bits", header + first.enumerated().map { $0 == 56 || $0 == 48 ? 0x80 : $1 }),
    ]

    @Test(arguments: malformed)
    func `are refused with`(_ fault: String, _ bytes: [UInt8]) {
        #expect(VerifiedRecords(parsing: bytes) == nil)
    }

    @Test func `are looked up where they lie, and say whether they changed`() throws {
        var read = try #require(VerifiedRecords(parsing: records.bytes))
        #expect(read[Sample.small.digest] == records[Sample.small.digest])
        #expect(read[Sample.other.digest] == records[Sample.other.digest])
        #expect(read[Sample.empty.digest] == nil)
        read[Sample.small.digest] = records[Sample.small.digest]
        read[Sample.empty.digest] = nil
        read.keep(only: [Sample.small.digest, Sample.other.digest])
        #expect(!read.isChanged)
        read[Sample.small.digest] = nil
        #expect(read.isChanged)
        #expect(read[Sample.small.digest] == nil)
        #expect(read.bytes == Self.header + Self.second)
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
