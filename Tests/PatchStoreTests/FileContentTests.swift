import Linux
import PatchStore
import SystemPackage
import Testing

@Suite("The content of a file", .serialized)
struct FileContentTests {
    @Test(arguments: TestDisk.allCases, Sample.all)
    func `is read as it was written`(_ disk: TestDisk, _ sample: Sample) throws {
        let folder = try disk.open()
        try folder.files.write(sample.bytes, to: folder("a"))
        #expect(try folder.files.read(folder("a"), limit: sample.bytes.count) == sample.bytes)
        #expect(try folder.files.status(of: folder("a"))?.identity.size == sample.bytes.count)
    }

    @Test(arguments: TestDisk.allCases)
    func `is read in pieces of at most 256 KiB, none of them empty`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        try folder.files.write(Sample.large.bytes, to: folder("a"))
        var sizes: [Int] = []
        try folder.files.readChunks(folder("a"), limit: 600_000) { sizes.append($0.count) }
        #expect(sizes == [262_144, 262_144, 75_712])
        try folder.files.write([], to: folder("b"))
        try folder.files.readChunks(folder("b"), limit: 0) { Issue.record("a piece of \($0.count) bytes") }
    }

    @Test(arguments: TestDisk.allCases)
    func `is refused when it is one byte over the limit`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        try folder.files.write(Sample.small.bytes, to: folder("a"))
        #expect(throws: FileError.tooLarge(folder("a"), limit: 8)) {
            _ = try folder.files.read(folder("a"), limit: 8)
        }
    }

    @Test(arguments: TestDisk.allCases)
    func `passes on what its reader throws`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        try folder.files.write(Sample.small.bytes, to: folder("a"))
        #expect(throws: FileError.noSpace(.write, "/copy")) {
            try folder.files.readChunks(folder("a"), limit: 9) { (_) throws(FileError) in
                throw FileError.noSpace(.write, "/copy")
            }
        }
    }

    @Test(arguments: TestDisk.allCases)
    func `has exactly the permissions asked for`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        for mode: CInterop.Mode in [0o600, 0o444, 0o666] {
            try folder.files.write([1], to: folder("\(mode)"), permissions: FilePermissions(rawValue: mode))
            #expect(try folder.files.status(of: folder("\(mode)"))?.permissions.rawValue == mode)
        }
        try folder.files.setPermissions(.sealed, of: folder("\(0o600)"))
        #expect(try folder.files.status(of: folder("\(0o600)"))?.permissions == .sealed)
    }

    @Test(arguments: TestDisk.allCases)
    func `is never written where something stands`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        try folder.files.write([1], to: folder("file"))
        try folder.files.makeDirectory(folder("directory"))
        try folder.makeSymbolicLink("link", to: folder("nowhere"))
        for name in ["file", "directory", "link"] {
            #expect(throws: FileError.exists(.write, folder(name))) {
                try folder.files.write([2], to: folder(name))
            }
            #expect(throws: FileError.exists(.create, folder(name))) {
                _ = try folder.files.create(folder(name), permissions: .privateFile)
            }
        }
        #expect(try folder.files.read(folder("file"), limit: 1) == [1])
        #expect(try folder.tree() == ["directory", "file", "link"])
    }

    @Test(arguments: TestDisk.allCases)
    func `is read, appended to and given permissions in regular files only`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        let files = folder.files
        try files.write([1], to: folder("file"))
        try files.makeDirectory(folder("directory"))
        try folder.makeSymbolicLink("link", to: folder("file"))
        for path in [folder("directory"), folder("link")] {
            #expect(throws: FileError.notRegular(.read, path)) { _ = try files.read(path, limit: 9) }
            #expect(throws: FileError.notRegular(.append, path)) { _ = try files.append(to: path) }
            #expect(throws: FileError.notRegular(.setPermissions, path)) {
                try files.setPermissions(.sealed, of: path)
            }
        }
        let missing = folder("missing")
        #expect(throws: FileError.notFound(.read, missing)) { _ = try files.read(missing, limit: 9) }
        #expect(throws: FileError.notFound(.append, missing)) { _ = try files.append(to: missing) }
        #expect(throws: FileError.notFound(.write, folder("no/file"))) { try files.write([1], to: folder("no/file")) }
        #expect(try files.status(of: folder("file"))?.permissions == .privateFile)
    }

    @Test(arguments: TestDisk.allCases)
    func `grows at its end, and goes on growing once reopened`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        let writer = try folder.files.create(folder("a"), permissions: .privateFile)
        try writer.append([1, 2])
        try writer.append([3])
        #expect(writer.offset == 3)
        try writer.finish()
        let again = try folder.files.append(to: folder("a"))
        #expect(again.offset == 3)
        try again.append([4])
        // Let go without finishing: what was appended is there all the same.
        #expect(try folder.files.read(folder("a"), limit: 9) == [1, 2, 3, 4])
    }
}
