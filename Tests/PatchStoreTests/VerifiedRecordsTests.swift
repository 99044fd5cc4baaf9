import Linux
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

    /// Enough of them that rows are rewritten in between.
    @Test func `are what was recorded last, over many changes`() throws {
        var records = VerifiedRecords()
        var expected: [SHA256Digest: FileIdentity] = [:]
        for number in 0..<9_000 {
            let digest = try #require(Self.digest(number * 7 % 5_000))
            let identity = FileIdentity(device: 1, inode: UInt64(number), size: 1, modified: 2, changed: 3)
            let new = number % 11 == 0 ? nil : identity
            records[digest] = new
            expected[digest] = new
        }
        #expect(records.count == expected.count)
        #expect(expected.allSatisfy { records[$0.key] == $0.value })
        #expect(VerifiedRecords(parsing: records.bytes) == records)
        #expect(
            (0..<5_000).allSatisfy { number in
                Self.digest(number).map { records[$0] == expected[$0] } ?? false
            }
        )
    }

    private static func digest(_ number: Int) -> SHA256Digest? {
        var bytes = [UInt8](repeating: 0xAB, count: 32)
        for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: (number &* 2_654_435_761) >> (index * 8)) }
        return SHA256Digest(bytes: bytes)
    }

    @Test func `of 100,000 objects fit into the file limit and come back equal`() throws {
        var many = VerifiedRecords()
        for number in 0..<100_000 {
            many[try #require(Self.digest(number))] = FileIdentity(
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
