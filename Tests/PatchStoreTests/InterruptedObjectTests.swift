import PatchFormat
import PatchStore
import PatchTesting
import SystemPackage
import Testing

@Suite("An object, wherever its making is stopped")
struct InterruptedObjectTests {
    private let sample = Sample.small

    private var part: FilePath { FilePath("/app/part/\(sample.digest).part") }

    private func store(_ files: FaultyFiles) -> ObjectStore {
        ObjectStore(root: "/app/objects", incoming: "/app/part", files: files)
    }

    private func open(_ files: FaultyFiles) throws -> ObjectStore {
        try store(files).prepare()
        return store(files)
    }

    private func expectWholeOrMissing(_ disk: FaultyFiles, _ isDone: Bool) throws {
        let condition = try store(disk).condition(of: sample.digest, records: VerifiedRecords())
        if isDone || condition != .missing {
            #expect(try store(disk).read(sample.digest, limit: 100) == sample.bytes)
            #expect(try disk.status(of: store(disk).path(of: sample.digest))?.permissions == .sealed)
        }
    }

    @Test func `is there whole or not at all when put`() throws {
        try interrupt { _ in
            // The first start: not even the directories are there.
        } _: { files in
            try open(files).put(sample.bytes, as: sample.fingerprint)
        } check: { disk, isDone in
            try expectWholeOrMissing(disk, isDone)
        }
    }

    @Test func `is there whole or not at all when received, and the next receiver finishes it`() throws {
        try interrupt { _ in
        } _: { files in
            var receiver = try open(files).receive(ExpectedFile(sample.fingerprint))
            for byte in sample.bytes[receiver.resumeOffset...] { try receiver.append([byte]) }
            try receiver.finish()
        } check: { disk, isDone in
            try expectWholeOrMissing(disk, isDone)
        }
    }

    @Test func `is whole when a received one is received again after a power cut kept its part`() throws {
        let disk = FaultyFiles()
        var receiver = try open(disk).receive(ExpectedFile(sample.fingerprint))
        try receiver.append(sample.bytes)
        try disk.syncDirectory("/app/part")
        try receiver.finish()
        let crashed = disk.crashed(.lose)
        try #require(try crashed.status(of: part)?.linkCount == 2)

        let again = try store(crashed).receive(ExpectedFile(sample.fingerprint))
        #expect(again.resumeOffset == 0)
        #expect(try crashed.status(of: store(crashed).path(of: sample.digest))?.permissions == .sealed)
        #expect(try store(crashed).read(sample.digest, limit: 100) == sample.bytes)
    }

    @Test func `is in the store or in quarantine when it is moved aside`() throws {
        try interrupt { files in
            let store = try open(files)
            try store.put(sample.bytes, as: sample.fingerprint)
            try files.overwrite(store.path(of: sample.digest), with: [1])
        } _: { files in
            if try store(files).contains(sample.digest) { try store(files).quarantine(sample.digest) }
        } check: { disk, isDone in
            let isAside = try disk.status(of: FilePath("/app/quarantine/\(sample.digest)")) != nil
            #expect(try isAside || store(disk).contains(sample.digest))
        }
    }

    @Test func `leaves the store when a power cut kept both its names`() throws {
        let disk = FaultyFiles()
        let store = try open(disk)
        try store.put(sample.bytes, as: sample.fingerprint)
        try disk.makeDirectory(store.quarantined)
        try disk.link(store.path(of: sample.digest), to: store.quarantined.appending(sample.digest.hex))
        try store.quarantine(sample.digest)
        #expect(try !store.contains(sample.digest))
        #expect(try disk.list(store.quarantined) == [sample.digest.hex])
    }

    @Test func `on a full disk is not there, and leaves what can be resumed or nothing`() throws {
        let disk = FaultyFiles()
        let store = try open(disk)
        disk.limitFreeSpace(to: 4)
        #expect(throws: StoreError.file(.noSpace(.write, FilePath("/app/part/\(sample.digest).new")))) {
            try store.put(sample.bytes, as: sample.fingerprint)
        }
        #expect(try disk.list("/app/part") == [])

        let noSpace = StoreError.file(.noSpace(.create, part))
        var receiver = try store.receive(ExpectedFile(sample.fingerprint))
        do throws(StoreError) {
            try receiver.append(sample.bytes)
            Issue.record("written to a full disk")
        } catch {
            #expect(error == noSpace)
        }
        disk.limitFreeSpace(to: nil)
        // Space or not, what the file ends with is unknown to this receiver.
        do throws(StoreError) {
            try receiver.finish()
            Issue.record("finished after an error")
        } catch {
            #expect(error == noSpace)
        }
        #expect(try !store.contains(sample.digest))

        var next = try store.receive(ExpectedFile(sample.fingerprint))
        #expect(next.resumeOffset == 4)
        try next.append(Array(sample.bytes[4...]))
        try next.finish()
        #expect(try store.read(sample.digest, limit: 9) == sample.bytes)
    }
}
