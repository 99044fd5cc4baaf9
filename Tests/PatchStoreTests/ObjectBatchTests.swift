import Linux
import PatchFormat
import PatchStore
import PatchTesting
import SystemPackage
import Testing

@Suite("A batch of objects")
struct ObjectBatchTests {
    private let samples = [Sample.small, .other, .empty]

    private func store(_ files: any FileOperations) throws -> ObjectStore {
        let store = ObjectStore(root: "/app/objects", incoming: "/app/part", files: files)
        try store.prepare()
        return store
    }

    private func receive(_ sample: Sample, _ store: ObjectStore) throws -> SealedPart {
        var receiver = try store.receive(ExpectedFile(sample.fingerprint))
        try receiver.append(Array(sample.bytes[receiver.resumeOffset...]))
        return try receiver.seal()
    }

    /// - Returns: what became an object because the batch was full.
    private func add(
        _ sample: Sample,
        to batch: inout ObjectBatch,
        of store: ObjectStore
    ) throws -> [SHA256Digest: FileIdentity] {
        try batch.add(receive(sample, store)).map { try batch.commit($0) } ?? [:]
    }

    private func bounds(count: Int = 100, size: Int = 1_000_000) -> ObjectBatch.Bounds {
        var bounds = ObjectBatch.Bounds()
        (bounds.count, bounds.size) = (count, size)
        return bounds
    }

    @Test(arguments: TestDisk.allCases)
    func `makes its objects when it is full, and the rest at its end`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        let store = ObjectStore(root: folder("objects"), incoming: folder("part"), files: folder.files)
        try store.prepare()
        var batch = try ObjectBatch(in: store, bounds: bounds(count: 2))
        let none = try add(.small, to: &batch, of: store)
        #expect(none == [:])
        #expect(try !store.contains(Sample.small.digest))
        let made = try add(.other, to: &batch, of: store)
        #expect(Set(made.keys) == [Sample.small.digest, Sample.other.digest])
        let more = try add(.empty, to: &batch, of: store)
        #expect(more == [:])
        let rest = try batch.finish()
        #expect(Set(rest.keys) == [Sample.empty.digest])
        for (digest, identity) in made.merging(rest, uniquingKeysWith: { old, _ in old }) {
            #expect(try store.condition(of: digest, records: VerifiedRecords()) == .intact(identity))
            #expect(try folder.files.status(of: store.path(of: digest))?.permissions == .sealed)
        }
        #expect(try folder.files.list(folder("part")) == [])
        #expect(try batch.finish() == [:])
    }

    @Test func `is full by bytes too`() throws {
        let store = try store(FaultyFiles())
        var batch = try ObjectBatch(in: store, bounds: bounds(size: Sample.small.bytes.count + 1))
        let none = try add(.small, to: &batch, of: store)
        #expect(none == [:])
        let made = try add(.other, to: &batch, of: store)
        #expect(made.count == 2)
    }

    @Test func `waits for the disk twice, however many objects it has`() throws {
        for count in 1...3 {
            let disk = FaultyFiles()
            let store = try store(disk)
            let parts = try samples.prefix(count).map { try receive($0, store) }
            var batch = try ObjectBatch(in: store, bounds: bounds())
            for part in parts { _ = batch.add(part) }
            let before = disk.changes
            _ = try batch.finish()
            // Of each object: its directory and its name.
            #expect(disk.changes - before == 2 + 2 * count)
        }
    }

    @Test func `gets no part that is not its entry's`() throws {
        let disk = FaultyFiles()
        let store = try store(disk)
        var receiver = try store.receive(ExpectedFile(Sample.small.fingerprint.with(md5: Sample.other.fingerprint.md5)))
        try receiver.append(Sample.small.bytes)
        do throws(StoreError) {
            _ = try receiver.seal()
            Issue.record("sealed")
        } catch {
            #expect(error == .mismatch(Sample.small.digest, field: "md5"))
        }
        #expect(try disk.list("/app/part") == [])
    }

    /// Nothing stands under an object's name that is not whole, and what the batch said is done survives.
    @Test(arguments: [1, 100])
    func `wherever it is stopped leaves each object whole or missing, and the next one finishes`(count: Int) throws {
        try interrupt { _ in
        } _: { files in
            let store = try store(files)
            var batch = try ObjectBatch(in: store, bounds: bounds(count: count))
            for sample in samples.dropLast()
            where try store.condition(of: sample.digest, records: VerifiedRecords()) == .missing {
                if let full = batch.add(try received(sample, store)) { _ = try batch.commit(full) }
            }
            _ = try batch.finish()
        } check: { disk, isDone in
            let store = ObjectStore(root: "/app/objects", incoming: "/app/part", files: disk)
            for sample in samples.dropLast() {
                let condition = try store.condition(of: sample.digest, records: VerifiedRecords())
                guard isDone || condition != .missing else { continue }
                #expect(try store.read(sample.digest, limit: 1_000) == sample.bytes)
                #expect(try disk.status(of: store.path(of: sample.digest))?.permissions == .sealed)
            }
        }
    }

    /// A part that a power cut damaged is refused once, and begun anew.
    private func received(_ sample: Sample, _ store: ObjectStore) throws -> SealedPart {
        do {
            return try receive(sample, store)
        } catch StoreError.mismatch {
            return try receive(sample, store)
        }
    }
}
