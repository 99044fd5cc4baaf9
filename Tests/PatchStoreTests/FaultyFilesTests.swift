import PatchStore
import PatchTesting
import SystemPackage
import Testing

/// The fake must be no kinder than a disk, or the tests on it prove nothing.
@Suite("The disk in memory")
struct FaultyFilesTests {
    private func folder() throws -> FaultyFiles {
        let disk = FaultyFiles()
        try disk.makeDirectory("/a")
        return disk.crashed(.keep)
    }

    @Test(
        arguments: [
            (FaultyFiles.Survival.lose, nil), (.keep, [1, 2]), (.keepNames, []),
        ] as [(FaultyFiles.Survival, [UInt8]?)]
    )
    func `after a power cut holds of an unsynced file`(_ survival: FaultyFiles.Survival, _ left: [UInt8]?) throws {
        let disk = try folder()
        try disk.create("/a/f", permissions: .privateFile).append([1, 2])
        let crashed = disk.crashed(survival)
        #expect(try crashed.status(of: "/a/f").map { _ in try crashed.read("/a/f", limit: 9) } == left)
    }

    @Test(arguments: FaultyFiles.Survival.allCases)
    func `after a power cut holds what was synced`(_ survival: FaultyFiles.Survival) throws {
        let disk = try folder()
        try disk.write([1, 2], to: "/a/f")
        try disk.makeDirectory("/a/b/c")
        try disk.syncDirectory("/a")
        let crashed = disk.crashed(survival)
        #expect(try crashed.read("/a/f", limit: 9) == [1, 2])
        #expect(try crashed.list("/a/b") == ["c"])
    }

    @Test func `after a power cut holds what was there when a batch was synced, and nothing that came later`() throws {
        let disk = try folder()
        let batch = try disk.beginBatch(on: "/a")
        try disk.addDirectory("/a/b")
        try disk.create("/a/b/f", permissions: .privateFile).append([1, 2])
        #expect(try disk.crashed(.lose).list("/a") == [])
        try batch.sync()
        try disk.addDirectory("/a/c")
        let crashed = disk.crashed(.lose)
        #expect(try crashed.read("/a/b/f", limit: 9) == [1, 2])
        #expect(try crashed.list("/a") == ["b"])
    }

    @Test func `after a batch whose sync failed may hold a name and not the bytes`() throws {
        let disk = try folder()
        for name in ["f", "g", "h"] {
            try disk.create(FilePath("/a/\(name)"), permissions: .privateFile).append([1])
        }
        let failing = disk.reopened(failingAtChange: 1)
        #expect(throws: FileError.io(.sync, "/a", .ioError)) { try failing.beginBatch(on: "/a").sync() }
        let bytes = try ["f", "g", "h"].map { try failing.crashed(.keepNames).read(FilePath("/a/\($0)"), limit: 9) }
        #expect(bytes == [[], [1], [1]])
    }

    @Test func `after a power cut may hold a renamed file under both names`() throws {
        let disk = try folder()
        try disk.makeDirectory("/b")
        try disk.write([1], to: "/a/f")
        try disk.syncDirectory("/a")
        try disk.rename("/a/f", to: "/b/f")
        try disk.syncDirectory("/b")
        let crashed = disk.crashed(.lose)
        #expect(try crashed.identity(of: "/a/f") == crashed.identity(of: "/b/f"))
        #expect(try crashed.status(of: "/a/f")?.linkCount == 2)
    }

    @Test func `after a power cut has the permissions that were synced`() throws {
        let disk = try folder()
        try disk.write([1], to: "/a/f")
        try disk.syncDirectory("/a")
        try disk.setPermissions(.sealed, of: "/a/f")
        #expect(try disk.crashed(.lose).status(of: "/a/f")?.permissions == .privateFile)
        #expect(try disk.reopened().status(of: "/a/f")?.permissions == .sealed)
    }

    @Test func `tears the write that it fails on, and changes nothing more`() throws {
        let disk = try folder().reopened(failingAtChange: 2)
        #expect(throws: FileError.io(.write, "/a/f", .ioError)) { try disk.write([1, 2, 3, 4], to: "/a/f") }
        #expect(try disk.read("/a/f", limit: 9) == [1, 2])
        #expect(throws: FileError.io(.remove, "/a/f", .ioError)) { try disk.remove("/a/f") }
        #expect(disk.changes == 2)
    }

    @Test func `goes on after a failure when it is asked to`() throws {
        let disk = try folder().reopened(failingAtChange: 1, then: .running)
        #expect(throws: FileError.io(.write, "/a/f", .ioError)) { try disk.write([1], to: "/a/f") }
        try disk.write([1], to: "/a/f")
        #expect(disk.changes == 4)
    }

    @Test func `fills a full disk to the last byte, and has room again once something is removed`() throws {
        let disk = try folder()
        try disk.write([9, 9], to: "/a/old")
        disk.limitFreeSpace(to: 3)
        #expect(throws: FileError.noSpace(.write, "/a/f")) { try disk.write([1, 2, 3, 4], to: "/a/f") }
        #expect(try disk.read("/a/f", limit: 9) == [1, 2, 3])
        try disk.remove("/a/f")
        try disk.remove("/a/old")
        try disk.write([1, 2, 3, 4, 5], to: "/a/f")
    }

    @Test func `refuses to append to a sealed file, as it is refused to all but root`() throws {
        let disk = try folder()
        try disk.write([1], to: "/a/f", permissions: .sealed)
        #expect(throws: FileError.permission(.append, "/a/f")) { _ = try disk.append(to: "/a/f") }
    }

    @Test func `rots without a trace`() throws {
        let disk = try folder()
        try disk.write([1, 2], to: "/a/f")
        let before = try disk.status(of: "/a/f")
        try disk.rot("/a/f")
        #expect(try disk.status(of: "/a/f") == before)
        #expect(try disk.read("/a/f", limit: 9) == [0, 2])
    }

    @Test func `is one disk for many tasks`() async throws {
        let disk = try folder()
        await withTaskGroup { group in
            for number in 0..<100 {
                group.addTask { try? disk.write([1], to: FilePath("/a/\(number)")) }
            }
        }
        #expect(try disk.list("/a").count == 100)
    }
}
