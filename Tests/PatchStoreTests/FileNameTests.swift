import Linux
import PatchStore
import SystemPackage
import Testing

@Suite("The names of files", .serialized)
struct FileNameTests {
    @Test(arguments: TestDisk.allCases)
    func `are listed by their bytes`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        for name in ["b", "a", "é", "Z", ".hidden"] { try folder.files.write([], to: folder(name)) }
        #expect(try folder.files.list(folder.path) == [".hidden", "Z", "a", "b", "é"])
        #expect(throws: FileError.notDirectory(.list, folder("a"))) { _ = try folder.files.list(folder("a")) }
        #expect(throws: FileError.notFound(.list, folder("x"))) { _ = try folder.files.list(folder("x")) }
    }

    @Test(arguments: TestDisk.allCases)
    func `move over other files in one step`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        try folder.files.write([1], to: folder("new"))
        try folder.files.write([2], to: folder("old"))
        let moved = try folder.files.status(of: folder("new"))?.identity.inode
        try folder.files.rename(folder("new"), to: folder("old"))
        #expect(try folder.tree() == ["old"])
        #expect(try folder.files.status(of: folder("old"))?.identity.inode == moved)
    }

    @Test(arguments: TestDisk.allCases)
    func `move over nothing of another kind`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        let files = folder.files
        try files.write([1], to: folder("file"))
        try files.makeDirectory(folder("full/inner"))
        try files.makeDirectory(folder("empty"))
        #expect(throws: FileError.notRegular(.rename, folder("full"))) {
            try files.rename(folder("file"), to: folder("full"))
        }
        #expect(throws: FileError.notDirectory(.rename, folder("file"))) {
            try files.rename(folder("full"), to: folder("file"))
        }
        #expect(throws: FileError.exists(.rename, folder("full"))) {
            try files.rename(folder("empty"), to: folder("full"))
        }
        #expect(throws: FileError.notFound(.rename, folder("x"))) { try files.rename(folder("x"), to: folder("y")) }
        #expect(throws: FileError.notFound(.rename, folder("x/y"))) {
            try files.rename(folder("file"), to: folder("x/y"))
        }
        try files.rename(folder("full"), to: folder("empty"))
        #expect(try folder.tree() == ["empty", "empty/inner", "file"])
    }

    @Test(arguments: TestDisk.allCases)
    func `can be several for one file, which counts them`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        let files = folder.files
        try files.write([1], to: folder("a"))
        let alone = try #require(try files.status(of: folder("a")))
        try files.link(folder("a"), to: folder("b"))
        let linked = try #require(try files.status(of: folder("b")))
        #expect(alone.linkCount == 1)
        #expect(linked.linkCount == 2)
        #expect(linked.identity.hasContent(of: alone.identity))

        // rename(2) between two names of one file does nothing.
        try files.rename(folder("a"), to: folder("b"))
        #expect(try folder.tree() == ["a", "b"])

        try files.remove(folder("a"))
        #expect(try files.status(of: folder("b"))?.linkCount == 1)
        #expect(try files.read(folder("b"), limit: 1) == [1])
    }

    @Test(arguments: TestDisk.allCases)
    func `are added for regular files only, and where nothing stands`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        let files = folder.files
        try files.write([1], to: folder("a"))
        try files.write([2], to: folder("b"))
        try files.makeDirectory(folder("d"))
        try folder.makeSymbolicLink("s", to: folder("a"))
        #expect(throws: FileError.exists(.link, folder("b"))) { try files.link(folder("a"), to: folder("b")) }
        #expect(throws: FileError.notFound(.link, folder("x"))) { try files.link(folder("x"), to: folder("y")) }
        #expect(throws: FileError.notRegular(.link, folder("d"))) { try files.link(folder("d"), to: folder("y")) }
        #expect(throws: FileError.notRegular(.link, folder("s"))) { try files.link(folder("s"), to: folder("y")) }
        #expect(try files.read(folder("b"), limit: 1) == [2])
    }

    @Test(arguments: TestDisk.allCases)
    func `are removed without following them`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        let files = folder.files
        try files.makeDirectory(folder("kept/inner"))
        try files.write([1], to: folder("kept/inner/a"))
        try files.makeDirectory(folder("gone/inner"))
        try files.write([1], to: folder("gone/inner/a"), permissions: .sealed)
        try folder.makeSymbolicLink("gone/inner/link", to: folder("kept"))
        try folder.makeSymbolicLink("link", to: folder("kept"))

        #expect(throws: FileError.notRegular(.remove, folder("gone"))) { try files.remove(folder("gone")) }
        #expect(throws: FileError.notFound(.remove, folder("x"))) { try files.remove(folder("x")) }
        try files.removeTree(folder("gone"))
        try files.removeTree(folder("link"))
        try files.removeTree(folder("x"))
        try files.removeIfPresent(folder("x"))
        #expect(try folder.tree() == ["kept", "kept/inner", "kept/inner/a"])
    }

    @Test(arguments: TestDisk.allCases)
    func `of directories are made with their parents, and only over directories`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        let files = folder.files
        try files.makeDirectory(folder("a/b/c"), permissions: FilePermissions(rawValue: 0o755))
        try files.makeDirectory(folder("a/b"))
        try files.write([1], to: folder("file"))
        #expect(try files.status(of: folder("a/b"))?.permissions.rawValue == 0o755)
        #expect(try files.status(of: folder.path)?.permissions.rawValue == 0o700)
        #expect(throws: FileError.notDirectory(.makeDirectory, folder("file"))) {
            try files.makeDirectory(folder("file"))
        }
        #expect(try folder.tree() == ["a", "a/b", "a/b/c", "file"])
    }

    @Test(arguments: TestDisk.allCases)
    func `of directories are not made behind a link that was put in a folder's place`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        let files = folder.files
        try files.makeDirectory(folder("victim"))
        try folder.makeSymbolicLink("link", to: folder("victim"))
        // What is in the way, by its name or by that of what was to be in it.
        let error = #expect(throws: FileError.self) { try files.makeDirectory(folder("link/a/b")) }
        guard case .notDirectory(.makeDirectory, let path) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(path.starts(with: folder("link")))
        #expect(try files.list(folder("victim")) == [])
        try files.makeDirectory(folder("victim/deep"))
        for path in ["link", "link/deep", "link/missing"] {
            #expect(throws: FileError.notDirectory(.makeDirectory, folder("link"))) {
                try files.checkFolders(to: folder(path), from: folder.path)
            }
        }
        try files.checkFolders(to: folder("victim/deep/missing/too"), from: folder.path)
        try files.checkFolders(to: folder("nowhere"), from: folder("nowhere"))
    }

    @Test(arguments: TestDisk.allCases)
    func `that nothing has are no status and no error`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        try folder.makeSymbolicLink("link", to: folder("nowhere"))
        #expect(try folder.files.status(of: folder("missing")) == nil)
        #expect(try folder.files.status(of: folder("link"))?.kind == .symbolicLink)
        #expect(throws: FileError.notFound(.sync, folder("missing"))) {
            try folder.files.syncDirectory(folder("missing"))
        }
    }

    /// In memory only: the times of a real disk may be too coarse for five changes in a row.
    @Test func `lead to another identity after every write, link and change of permissions`() throws {
        let folder = try TestDisk.fake.open()
        let path = folder("a")
        try folder.files.write([1], to: path)
        var seen = [try folder.files.identity(of: path)]
        for change in [
            { try folder.overwrite(path, with: [2]) },
            { try folder.files.link(path, to: folder("b")) },
            { try folder.files.remove(folder("b")) },
            { try folder.files.setPermissions(.sealed, of: path) },
        ] {
            try change()
            seen.append(try folder.files.identity(of: path))
        }
        #expect(Set(seen).count == 5)
    }
}
