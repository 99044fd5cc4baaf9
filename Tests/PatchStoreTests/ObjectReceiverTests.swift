import PatchFormat
import PatchStore
import PatchTesting
import SystemPackage
import Testing

@Suite("An object on its way in", .serialized)
struct ObjectReceiverTests {
    @Test(arguments: TestDisk.allCases, Sample.all)
    func `becomes an object once all digests match`(_ disk: TestDisk, _ sample: Sample) throws {
        let (folder, store) = try open(disk)
        var receiver = try store.receive(ExpectedFile(sample.fingerprint))
        #expect(receiver.resumeOffset == 0)
        for start in stride(from: 0, to: sample.bytes.count, by: 100_000) {
            try receiver.append(Array(sample.bytes[start...].prefix(100_000)))
        }
        let isComplete = receiver.isComplete
        #expect(isComplete)
        #expect(try !store.contains(sample.digest))
        let identity = try receiver.finish()
        #expect(try store.condition(of: sample.digest, records: VerifiedRecords()) == .intact(identity))
        #expect(try folder.files.status(of: store.path(of: sample.digest))?.permissions == .sealed)
        #expect(try folder.files.list(folder("part")) == [])
    }

    @Test(arguments: TestDisk.allCases)
    func `goes on where the last receiver stopped`(_ disk: TestDisk) throws {
        let (_, store) = try open(disk)
        let sample = Sample.large
        try begin(sample, store, count: 300_000)
        var receiver = try store.receive(ExpectedFile(sample.fingerprint))
        #expect(receiver.resumeOffset == 300_000)
        #expect(receiver.received == 300_000)
        try receiver.append(Array(sample.bytes[300_000...]))
        try receiver.finish()
        #expect(try store.read(sample.digest, limit: 600_000) == sample.bytes)
    }

    @Test(arguments: TestDisk.allCases)
    func `needs no byte more when a sealed part is whole`(_ disk: TestDisk) throws {
        let (folder, store) = try open(disk)
        try folder.files.write(Sample.small.bytes, to: part(.small, folder), permissions: .sealed)
        let receiver = try store.receive(ExpectedFile(Sample.small.fingerprint))
        let isComplete = receiver.isComplete
        #expect(isComplete)
        try receiver.finish()
        #expect(try store.contains(Sample.small.digest))
    }

    @Test(arguments: TestDisk.allCases)
    func `begins anew where no part can be resumed`(_ disk: TestDisk) throws {
        let (folder, store) = try open(disk)
        let path = part(.small, folder)
        let stale: [(FilePath) throws -> Void] = [
            { try folder.files.write(Sample.other.bytes, to: $0) },
            { try folder.files.makeDirectory($0.appending("inner")) },
            { _ in
                try folder.files.write([1], to: folder("target"))
                try folder.makeSymbolicLink("part/\(Sample.small.digest).part", to: folder("target"))
            },
            { try folder.files.link(folder("target"), to: $0) },
        ]
        for make in stale {
            try make(path)
            let receiver = try store.receive(ExpectedFile(Sample.small.fingerprint))
            #expect(receiver.resumeOffset == 0)
            #expect(try folder.files.status(of: path)?.kind == .file)
            try folder.files.remove(path)
        }
        #expect(try folder.files.read(folder("target"), limit: 9) == [1])
    }

    @Test func `is refused at the first byte too many, and its part removed`() throws {
        let (folder, store) = try open(.fake)
        var receiver = try store.receive(ExpectedFile(Sample.small.fingerprint))
        let tooLong = StoreError.mismatch(Sample.small.digest, field: "size")
        try receiver.append(Sample.small.bytes)
        #expect(refusal { () throws(StoreError) in try receiver.append([1]) } == tooLong)
        #expect(refusal { () throws(StoreError) in try receiver.append([]) } == tooLong)
        #expect(try folder.tree() == ["objects", "part"])
    }

    @Test(arguments: [
        ("size", Sample.small.fingerprint.with(size: 10)),
        ("md5", Sample.small.fingerprint.with(md5: Sample.other.fingerprint.md5)),
        ("sha1", Sample.small.fingerprint.with(sha1: Sample.other.fingerprint.sha1)),
    ])
    func `is refused for the first field that differs, and its part removed`(
        _ field: String,
        _ entry: Fingerprint
    ) throws {
        let (folder, store) = try open(.fake)
        var receiver = try store.receive(ExpectedFile(entry))
        try receiver.append(Sample.small.bytes)
        do throws(StoreError) {
            try receiver.finish()
            Issue.record("taken in")
        } catch {
            #expect(error == .mismatch(entry.sha256, field: field))
        }
        #expect(try folder.tree() == ["objects", "part"])
    }

    @Test func `is refused when what was there already is not its beginning`() throws {
        let (folder, store) = try open(.fake)
        try folder.files.write(Array("patchLine".utf8.prefix(6)), to: part(.small, folder))
        var receiver = try store.receive(ExpectedFile(Sample.small.fingerprint))
        try receiver.append(Array(Sample.small.bytes[6...]))
        do throws(StoreError) {
            try receiver.finish()
            Issue.record("taken in")
        } catch {
            #expect(error == .mismatch(Sample.small.digest, field: "md5"))
        }
        #expect(try store.receive(ExpectedFile(Sample.small.fingerprint)).resumeOffset == 0)
    }

    @Test(arguments: TestDisk.allCases)
    func `is forgotten unless it is still wanted`(_ disk: TestDisk) throws {
        let (folder, store) = try open(disk)
        try begin(.small, store, count: 3)
        try begin(.large, store, count: 3)
        try folder.files.makeDirectory(folder("part/unpacking/inner"))
        try store.removePartialDownloads(except: [Sample.large.digest])
        #expect(try folder.files.list(folder("part")) == ["\(Sample.large.digest).part"])
    }

    @Test(arguments: TestDisk.allCases, CompressionFormat.allCases)
    func `keeps what came of a compressed form from 64 KiB on, with what the server calls it`(
        _ disk: TestDisk,
        _ format: CompressionFormat
    ) throws {
        let (folder, store) = try open(disk)
        let expected = ExpectedFile(size: 100_000, sha256: Sample.large.digest)
        let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0) }
        var form = store.beginForm(format, validator: "\"v1\"", of: expected)
        try form.append(Array(bytes.prefix(65_536)))
        #expect(try !form.isKept && folder.files.list(folder("part")) == [])
        try form.append(Array(bytes[65_536..<69_000]))
        try form.append(Array(bytes[69_000...]))
        let name = "\(expected.sha256)\(format.suffix)"
        #expect(try form.isKept && folder.files.list(folder("part")) == [name, name + ".tag"])
        #expect(try store.partialDownloads() == [expected.sha256])
        var again = try #require(try store.keptForm(of: expected))
        #expect((again.format, again.size, again.validator) == (format, 70_000, "\"v1\""))
        try again.append([1, 2])
        let kept = try folder.files.read(folder("part/\(name)"), limit: 100_000)
        #expect(kept == bytes + [1, 2])
        // Of another object, or of more bytes than the object has: begun anew.
        #expect(try store.keptForm(of: ExpectedFile(Sample.small.fingerprint)) == nil)
        try store.removePartialDownloads(except: [expected.sha256])
        #expect(try folder.files.list(folder("part")).count == 2)
        #expect(try store.keptForm(of: ExpectedFile(size: 70_001, sha256: expected.sha256)) == nil)
        #expect(try folder.files.list(folder("part")) == [])
        // Without a name that can be sent back, nothing is kept.
        for validator in [nil, "", "\"\u{E9}\"", "\"a\nb\""] {
            var nameless = store.beginForm(format, validator: validator, of: expected)
            try nameless.append(bytes)
            #expect(!nameless.isKept && nameless.size == 70_000)
        }
        #expect(try folder.files.list(folder("part")) == [])
    }

    @Test func `leaves the room of its compressed form to the object where the disk is full`() throws {
        let files = FaultyFiles()
        let store = ObjectStore(root: "/objects", incoming: "/part", files: files)
        try store.prepare()
        let expected = ExpectedFile(size: 200_000, sha256: Sample.large.digest)
        // Before anything of it is kept, and while it is.
        for room in [10_000, 100_000] {
            files.limitFreeSpace(to: room)
            var form = store.beginForm(.gzip, validator: "\"v1\"", of: expected)
            for _ in 0..<5 { try form.append([UInt8](repeating: 7, count: 30_000)) }
            #expect(try !form.isKept && form.size == 150_000 && files.list("/part") == [])
            files.limitFreeSpace(to: nil)
        }
    }

    @Test(arguments: TestDisk.allCases)
    func `is removed with its compressed forms, and these are forgotten with it`(_ disk: TestDisk) throws {
        let (folder, store) = try open(disk)
        let expected = ExpectedFile(size: 100_000, sha256: Sample.large.digest)
        for isForgotten in [false, true] {
            for format in CompressionFormat.allCases {
                var form = store.beginForm(format, validator: "\"v1\"", of: expected)
                try form.append([UInt8](repeating: 7, count: 70_000))
            }
            try folder.files.write([1], to: folder("part/\(expected.sha256).part"))
            #expect(try folder.files.list(folder("part")).count == 5)
            if isForgotten { try store.removePartialDownloads() } else { try store.removePart(of: expected) }
            #expect(try folder.files.list(folder("part")) == [])
        }
    }

    private func open(_ disk: TestDisk) throws -> (TestFolder, ObjectStore) {
        let folder = try disk.open()
        let store = ObjectStore(root: folder("objects"), incoming: folder("part"), files: folder.files)
        try store.prepare()
        return (folder, store)
    }

    private func part(_ sample: Sample, _ folder: TestFolder) -> FilePath {
        folder("part/\(sample.digest).part")
    }

    private func begin(_ sample: Sample, _ store: ObjectStore, count: Int) throws {
        var receiver = try store.receive(ExpectedFile(sample.fingerprint))
        try receiver.append(Array(sample.bytes.prefix(count)))
    }

    private func refusal(_ body: () throws(StoreError) -> Void) -> StoreError? {
        do throws(StoreError) {
            try body()
            return nil
        } catch {
            return error
        }
    }
}
