import PatchFormat
import PatchStore
import SystemPackage
import Testing

@Suite("An object store", .serialized)
struct ObjectStoreTests {
    @Test(arguments: TestDisk.allCases, Sample.all)
    func `keeps each object under its digest, sealed`(_ disk: TestDisk, _ sample: Sample) throws {
        let (folder, store) = try open(disk)
        #expect(try !store.contains(sample.digest))
        let identity = try store.put(sample.bytes, as: sample.fingerprint)

        let hex = sample.digest.hex
        #expect(store.path(of: sample.digest) == folder("objects/\(hex.prefix(2))/\(hex)"))
        #expect(try store.contains(sample.digest))
        #expect(try store.read(sample.digest, limit: sample.bytes.count) == sample.bytes)
        #expect(try folder.files.status(of: store.path(of: sample.digest))?.permissions == .sealed)
        #expect(try folder.files.identity(of: store.path(of: sample.digest)) == identity)
        let prefix = hex.prefix(2)
        #expect(try folder.tree() == ["objects", "objects/\(prefix)", "objects/\(prefix)/\(hex)", "part"])
    }

    @Test(arguments: [
        ("size", Sample.small.fingerprint.with(size: 8)),
        ("md5", Sample.small.fingerprint.with(md5: Sample.other.fingerprint.md5)),
        ("sha1", Sample.small.fingerprint.with(sha1: Sample.other.fingerprint.sha1)),
        ("size", Sample.other.fingerprint),
    ])
    func `refuses bytes that are not the entry's, and writes nothing`(_ field: String, _ entry: Fingerprint) throws {
        let (folder, store) = try open(.fake)
        #expect(throws: StoreError.mismatch(entry.sha256, field: field)) {
            try store.put(Sample.small.bytes, as: entry)
        }
        #expect(try folder.tree() == ["objects", "part"])
    }

    @Test func `refuses bytes of which only SHA-256 is not the entry's`() throws {
        let (folder, store) = try open(.fake)
        let small = Sample.small.fingerprint
        let entry = Fingerprint(size: small.size, md5: small.md5, sha1: small.sha1, sha256: Sample.other.digest)
        #expect(throws: StoreError.mismatch(Sample.other.digest, field: "sha256")) {
            try store.put(Sample.small.bytes, as: entry)
        }
        #expect(try folder.tree() == ["objects", "part"])
    }

    @Test(arguments: TestDisk.allCases)
    func `leaves an object alone that it has already`(_ disk: TestDisk) throws {
        let (_, store) = try open(disk)
        let first = try store.put(Sample.small.bytes, as: Sample.small.fingerprint)
        #expect(try store.put(Sample.small.bytes, as: Sample.small.fingerprint) == first)
    }

    @Test(arguments: TestDisk.allCases)
    func `replaces an object of the wrong size`(_ disk: TestDisk) throws {
        let (folder, store) = try open(disk)
        try store.put(Sample.small.bytes, as: Sample.small.fingerprint)
        try folder.overwrite(store.path(of: Sample.small.digest), with: [1])
        try store.put(Sample.small.bytes, as: Sample.small.fingerprint)
        #expect(try store.read(Sample.small.digest, limit: 9) == Sample.small.bytes)
    }

    @Test(arguments: TestDisk.allCases)
    func `replaces a symbolic link, whatever it leads to`(_ disk: TestDisk) throws {
        let (folder, store) = try open(disk)
        let path = store.path(of: Sample.small.digest)
        try folder.files.write(Sample.small.bytes, to: folder("elsewhere"))
        try folder.files.makeDirectory(path.removingLastComponent())
        try folder.makeSymbolicLink("objects/03/\(Sample.small.digest)", to: folder("elsewhere"))
        #expect(try !store.contains(Sample.small.digest))
        #expect(throws: FileError.notRegular(.read, path)) { _ = try store.read(Sample.small.digest, limit: 9) }
        try store.put(Sample.small.bytes, as: Sample.small.fingerprint)
        #expect(try folder.files.status(of: path)?.kind == .file)
    }

    @Test(arguments: TestDisk.allCases)
    func `lists its digests in order, and passes over what is none`(_ disk: TestDisk) throws {
        let (folder, store) = try open(disk)
        for sample in Sample.all { try store.put(sample.bytes, as: sample.fingerprint) }
        try folder.files.write([], to: folder("objects/README"))
        try folder.files.write([], to: folder("objects/03/notes"))
        try folder.files.write([], to: folder("objects/03/\(Sample.other.digest)"))
        #expect(try store.all() == Sample.all.map(\.digest).sorted())
    }

    @Test(arguments: TestDisk.allCases)
    func `links an object to as many places as asked`(_ disk: TestDisk) throws {
        let (folder, store) = try open(disk)
        try store.put(Sample.small.bytes, as: Sample.small.fingerprint)
        try folder.files.write([1], to: folder("taken"))
        try store.link(Sample.small.digest, to: folder("a.js"))
        try store.link(Sample.small.digest, to: folder("a.js"))
        #expect(try folder.files.status(of: folder("a.js"))?.linkCount == 2)
        #expect(throws: FileError.exists(.link, folder("taken"))) {
            try store.link(Sample.small.digest, to: folder("taken"))
        }
        #expect(throws: FileError.notFound(.link, store.path(of: Sample.other.digest))) {
            try store.link(Sample.other.digest, to: folder("b.js"))
        }
    }

    @Test(arguments: TestDisk.allCases)
    func `moves a damaged object aside, over an older one, and takes a good one in`(_ disk: TestDisk) throws {
        let (folder, store) = try open(disk)
        for damage: [UInt8] in [[1], [2]] {
            try store.put(Sample.small.bytes, as: Sample.small.fingerprint)
            try folder.overwrite(store.path(of: Sample.small.digest), with: damage)
            try store.quarantine(Sample.small.digest)
            #expect(try folder.files.read(folder("quarantine/\(Sample.small.digest)"), limit: 9) == damage)
            #expect(try !store.contains(Sample.small.digest))
        }
        try store.put(Sample.small.bytes, as: Sample.small.fingerprint)
        #expect(try store.read(Sample.small.digest, limit: 9) == Sample.small.bytes)
    }

    @Test(arguments: TestDisk.allCases)
    func `removes an object, there or not`(_ disk: TestDisk) throws {
        let (_, store) = try open(disk)
        try store.put(Sample.small.bytes, as: Sample.small.fingerprint)
        try store.remove(Sample.small.digest)
        try store.remove(Sample.small.digest)
        #expect(try store.all() == [])
    }

    private func open(_ disk: TestDisk) throws -> (TestFolder, ObjectStore) {
        let folder = try disk.open()
        let store = ObjectStore(root: folder("objects"), incoming: folder("part"), files: folder.files)
        try store.prepare()
        return (folder, store)
    }
}
