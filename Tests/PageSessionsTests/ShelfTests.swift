@testable import PageSessions
import NIOHTTP1
import PageDiff
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import SystemPackage
import Testing

@Suite("The shelf of kept pages")
struct ShelfTests {
    private static let folder: FilePath = "/store/pages"

    private static func shelf(_ files: FaultyFiles, limit: Int = 1_000_000) -> DiskCache {
        DiskCache(folder: folder, files: files, suffix: "html", limit: limit, contentLimit: 10_000)
    }

    private static func id(_ number: Int) -> MD5Digest { Fingerprint(of: [UInt8(number)]).md5 }

    private static func record(_ bytes: [UInt8], at seconds: Int = 0) -> DiskCacheRecord {
        var record = DiskCacheRecord(
            savedAt: ManualClock.start.adding(.seconds(seconds)),
            content: SHA1Digest(of: bytes)
        )
        record.fields = ["Content-Type": "text/html"]
        return record
    }

    private static func names(_ files: FaultyFiles) -> [String] { (try? files.list(folder)) ?? [] }

    @Test func `gives back what was kept, byte for byte`() throws {
        let files = FaultyFiles()
        let shelf = Self.shelf(files)
        let bytes: [UInt8] = [0, 0xFF, 0x3C]
        try shelf.keep(Self.record(bytes), bytes, as: Self.id(1))
        let found = try #require(shelf.read(Self.id(1)))
        #expect(found.record == Self.record(bytes) && found.content == bytes)
        #expect(shelf.read(Self.id(2)) == nil)
    }

    @Test func `removes the page of before once the new one is kept`() throws {
        let files = FaultyFiles()
        let shelf = Self.shelf(files)
        for bytes in [[1], [2]] as [[UInt8]] { try shelf.keep(Self.record(bytes), bytes, as: Self.id(1)) }
        #expect(Self.names(files) == ["\(Self.id(1)).\(SHA1Digest(of: [2])).html", "\(Self.id(1)).json"])
    }

    @Test(arguments: FaultyFiles.Survival.allCases)
    func `has the old page or the new one after a crash at any step, and nothing else once it is swept`(
        survival: FaultyFiles.Survival
    ) throws {
        let (old, new): ([UInt8], [UInt8]) = ([1, 1, 1], [2, 2, 2])
        let before = FaultyFiles()
        try Self.shelf(before).keep(Self.record(old), old, as: Self.id(1))
        var step = 1
        while true {
            let disk = before.reopened(failingAtChange: step)
            let isWhole: Bool
            do throws(FileError) {
                try Self.shelf(disk).keep(Self.record(new, at: 1), new, as: Self.id(1))
                isWhole = disk.changes < step
            } catch { isWhole = false }
            let after = disk.crashed(survival)
            let shelf = Self.shelf(after)
            shelf.sweep(at: ManualClock.start)
            let found = shelf.read(Self.id(1))?.content
            #expect(found == old || found == new, "step \(step)")
            #expect(Self.names(after).count == 2, "step \(step)")
            if isWhole { break }
            step += 1
        }
        #expect(step > 5)
    }

    /// V11.
    @Test func `is brought down to a quarter, the oldest first, once it is over its limit`() throws {
        let files = FaultyFiles()
        // What a page takes is a block, and so is what its record takes.
        let shelf = Self.shelf(files, limit: 8 * 2 * 4_096)
        // The oldest is not the first.
        for number in [3, 1, 2, 4, 5, 6, 7, 8, 9] {
            let bytes = Array(repeating: UInt8(number), count: 1_000)
            try shelf.keep(Self.record(bytes, at: number), bytes, as: Self.id(number))
        }
        #expect((1...9).filter { shelf.read(Self.id($0)) != nil } == [8, 9])
        #expect(Self.names(files).count == 4)
    }

    @Test func `forgets what is over when it is swept`() throws {
        let files = FaultyFiles()
        let shelf = Self.shelf(files)
        let start = ManualClock.start
        try shelf.keep(DiskCacheRecord(savedAt: start, until: start.adding(.seconds(10))), [], as: Self.id(1))
        shelf.sweep(at: start.adding(.seconds(9)))
        #expect(shelf.read(Self.id(1)) != nil)
        shelf.sweep(at: start.adding(.seconds(10)))
        #expect(Self.names(files) == [])
    }

    @Test func `counts what it holds once, also where one page comes again and again`() throws {
        let files = FaultyFiles()
        let shelf = Self.shelf(files, limit: 4 * 2 * 4_096)
        for time in 1...40 {
            let bytes = [UInt8(time)]
            try shelf.keep(Self.record(bytes, at: time), bytes, as: Self.id(min(time, 3)))
        }
        #expect((1...3).allSatisfy { shelf.read(Self.id($0)) != nil })
    }

    @Test func `drops a page with all its bytes where its record cannot be read`() throws {
        let files = FaultyFiles()
        let shelf = Self.shelf(files)
        for number in [1, 2] { try shelf.keep(Self.record([1]), [1], as: Self.id(number)) }
        try files.removeIfPresent(Self.folder.appending("\(Self.id(1)).json"))
        try files.write([1], to: Self.folder.appending("\(Self.id(1)).json"))
        #expect(shelf.read(Self.id(1)) == nil)
        shelf.drop(Self.id(1))
        #expect(Self.names(files) == ["\(Self.id(2)).\(SHA1Digest(of: [1])).html", "\(Self.id(2)).json"])
    }

    @Test func `can read again what it says can be read`() throws {
        var record = Self.record([1])
        for number in 1...63 { record.fields.add(name: "Link", value: "</\(number)>") }
        #expect(record.isReadable)
        #expect(try DiskCacheRecord(record.bytes, named: "r.json") == record)
        record.fields.add(name: "Link", value: "</64>")
        #expect(!record.isReadable)
        record.fields = ["Link": String(repeating: "x", count: 65_536)]
        #expect(!record.isReadable)
    }

    @Test func `leaves what is not its own`() throws {
        let files = FaultyFiles()
        let shelf = Self.shelf(files)
        try files.makeDirectory(Self.folder)
        try files.write([], to: Self.folder.appending("notes.txt"))
        try files.write([], to: Self.folder.appending("\(Self.id(1)).link"))
        shelf.sweep(at: ManualClock.start)
        #expect(Self.names(files) == ["\(Self.id(1)).link", "notes.txt"])
    }

    @Test(arguments: [
        ("{}", "format"), (#"{"format":"patchline-page-v2"}"#, "format"),
        (#"{"format":"patchline-page-v1"}"#, "savedAt"),
        (#"{"format":"patchline-page-v1","savedAt":"2026-11-20T08:00:00Z","sha1":"1"}"#, "sha1"),
        (#"{"format":"patchline-page-v1","savedAt":"2026-11-20T08:00:00Z","fields":[["a"]]}"#, "fields"),
        (#"{"format":"patchline-page-v1","savedAt":"2026-11-20T08:00:00Z","fields":[["a","b\r\nc"]]}"#, "fields"),
    ])
    func `reads no record that breaks a rule`(text: String, field: String) throws {
        let error = #expect(throws: FormatError.self) { try DiskCacheRecord(Array(text.utf8), named: "r.json") }
        #expect(error?.document == "r.json" && error?.field == field)
        if field == "fields" {
            #expect(error?.rule == "must hold pairs of a name and a value, on one line each")
        }
    }

    @Test(
        arguments: [
            (200, [:], 300), (200, ["Cache-Control": "public, max-age=60"], 60),
            (200, ["Cache-Control": "max-age=60", "Age": "20"], 40),
            (200, ["Cache-Control": "max-age=60", "Age": "60"], nil),
            (200, ["Cache-Control": "max-age=999999999999"], 31_536_000), (200, ["Cache-Control": "max-age=x"], nil),
            (200, ["Cache-Control": "max-age=-9223372036854775808", "Age": "1"], nil),
            (200, ["Cache-Control": "max-age=0"], nil),
            (200, ["Cache-Control": "no-store"], nil), (200, ["Cache-Control": "no-cache"], nil),
            (200, ["Set-Cookie": "a=b"], nil), (200, ["Vary": "Cookie"], nil), (200, ["Vary": "Accept-Encoding"], 300),
            (200, ["Content-Encoding": "br"], nil), (404, [:], nil), (206, [:], nil),
        ] as [(Int, HTTPHeaders, Int?)]
    )
    func `keeps what pages link to for as long as its server says`(status: Int, fields: HTTPHeaders, seconds: Int?) {
        #expect(LinkAge.time(of: status, fields) == seconds.map { .seconds($0) })
    }
}
