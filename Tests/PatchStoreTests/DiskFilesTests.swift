import Foundation
import PatchStore
import SystemPackage
import Testing

@Suite("The real disk", .serialized)
struct DiskFilesTests {
    @Test(.timeLimit(.minutes(10)))
    func `never waits for the writer of a pipe`() throws {
        let folder = try TestDisk.real.open()
        let path = folder("pipe")
        try run("mkfifo", path.string)
        #expect(throws: FileError.notRegular(.read, path)) { _ = try folder.files.read(path, limit: 9) }
        #expect(throws: FileError.notRegular(.setPermissions, path)) {
            try folder.files.setPermissions(.sealed, of: path)
        }
        #expect(throws: FileError.self) { _ = try folder.files.append(to: path) }
        #expect(try folder.files.status(of: path)?.kind == .other)
    }

    @Test func `removes names that are no UTF-8`() throws {
        let folder = try TestDisk.real.open()
        try run("sh", "-c", #"mkdir "$0/tree" && touch "$0/tree/$(printf '\377')""#, folder.path.string)
        try folder.files.removeTree(folder("tree"))
        #expect(try folder.tree() == [])
    }

    @Test func `removes a tree of 300 levels`() throws {
        let folder = try TestDisk.real.open()
        let deep = Array(repeating: "d", count: 300).joined(separator: "/")
        try folder.files.makeDirectory(folder("tree/\(deep)"))
        try folder.files.removeTree(folder("tree"))
        #expect(try folder.tree() == [])
    }

    @Test func `says that a file on another file system cannot be linked`() throws {
        let folder = try TestDisk.real.open()
        try folder.files.write([1], to: folder("a"))
        let elsewhere = FilePath("/dev/shm/patchstore-tests-link")
        #expect(throws: FileError.cannotLink(elsewhere, .improperLink)) {
            try folder.files.link(folder("a"), to: elsewhere)
        }
    }

    /// A tmpfs of 64 KiB; only root can mount one.
    @Test(.enabled(if: canMount()))
    func `says that it is full, keeps the old bytes and has room again afterwards`() throws {
        let folder = try TestDisk.real.open()
        let disk = folder("disk")
        try folder.files.makeDirectory(disk)
        try run("mount", "-t", "tmpfs", "-o", "size=64k", "none", disk.string)
        defer { try? run("umount", disk.string) }

        let store = ObjectStore(root: disk.appending("objects"), incoming: disk.appending("part"), files: folder.files)
        try store.prepare()
        try folder.files.replace("state.json", in: disk, with: Sample.small.bytes)
        #expect(throws: FileError.noSpace(.write, disk.appending(".state.json.new"))) {
            try folder.files.replace("state.json", in: disk, with: Sample.large.bytes)
        }
        let new = store.incoming.appending("\(Sample.large.digest).new")
        #expect(throws: StoreError.file(.noSpace(.write, new))) {
            try store.put(Sample.large.bytes, as: Sample.large.fingerprint)
        }
        #expect(try folder.files.list(store.incoming) == [])
        #expect(try folder.files.read(disk.appending("state.json"), limit: 9) == Sample.small.bytes)
        try store.put(Sample.other.bytes, as: Sample.other.fingerprint)

        try run("mount", "-o", "remount,ro", disk.string)
        #expect(throws: FileError.readOnly(.write, disk.appending("x"))) {
            try folder.files.write([1], to: disk.appending("x"))
        }
        #expect(throws: StoreLockError.file(.readOnly(.lock, disk.appending("lock")))) {
            _ = try StoreLock(disk.appending("lock"))
        }
    }
}

private func canMount() -> Bool {
    guard let folder = try? TestDisk.real.open(), (try? run("mount", "-t", "tmpfs", "none", folder.path.string)) != nil
    else { return false }
    return (try? run("umount", folder.path.string)) != nil
}

private func run(_ command: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(command)")
}
