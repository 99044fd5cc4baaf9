import Foundation
import Glibc
import PatchStore
import SystemPackage
import Testing

/// `/tmp/…/` with `real/inner`, `link -> real`, and what a test adds.
@Suite("A path that its owner names")
struct NamedPathTests {
    private let folder: TestFolder
    private let disk = DiskFiles()

    init() throws {
        folder = try TestDisk.real.open()
        try disk.makeDirectory(folder("real/inner"))
        try disk.write(Array("found".utf8), to: folder("real/inner/file"))
        try folder.makeSymbolicLink("link", to: "real")
    }

    /// Below the test's folder.
    private func resolved(_ name: String) -> String {
        String(FilePath(given: "\(folder.path)/\(name)").string.dropFirst(folder.path.string.count))
    }

    @Test(
        "is where its links lead",
        arguments: [
            ("in the middle", "link/inner/file", "/real/inner/file"),
            ("at the end", "link", "/real"),
            ("with a slash behind it", "link/", "/real"),
            ("and dots", "./link/./inner//file", "/real/inner/file"),
            ("before what does not exist", "link/new/folder", "/real/new/folder"),
            ("a parent behind a link", "link/inner/../file", "/real/file"),
            ("a parent of a link", "link/../link/inner", "/real/inner"),
            ("a parent of what does not exist", "new/../link", "/real"),
            ("over the root", "../../../../../../..", ""),
        ]
    )
    func leads(_ name: String, path: String, place: String) {
        if name == "over the root" {
            #expect(FilePath(given: "\(folder.path)/\(path)") == "/")
        } else {
            #expect(resolved(path) == place)
        }
    }

    @Test func `leaves the folder that a link leads to, as the kernel does, where it goes to a parent`() throws {
        try folder.makeSymbolicLink("deep", to: "real/inner")
        #expect(resolved("deep/../inner/file") == "/real/inner/file")
        #expect(FilePath(asNamed: "\(folder.path)/deep/../inner").string == "\(folder.path)/real/inner")
    }

    @Test func `is stored with its links, which may lead elsewhere later`() throws {
        let named = FilePath(asNamed: "\(folder.path)/./link//inner/")
        #expect(named == folder("link/inner"))
        #expect(named.followingLinks == folder("real/inner"))
        try disk.makeDirectory(folder("other"))
        try disk.remove(folder("link"))
        try folder.makeSymbolicLink("link", to: folder("other"))
        #expect(named.followingLinks == folder("other/inner"))
    }

    @Test func `of a file that is replaced keeps its own name`() {
        #expect(FilePath(replacing: "\(folder.path)/link/link") == folder("real/link"))
        #expect(FilePath(replacing: "\(folder.path)/link") == folder("link"))
    }

    @Test func `that begins nowhere begins in the working directory`() {
        #expect(
            FilePath(given: "no/such") == FilePath.workingDirectory.followingLinks.appending("no").appending("such")
        )
    }

    @Test(arguments: [
        ("dangling", "nowhere", "which does not exist"), ("loop", "loop", "which leads back to it"),
    ])
    func `fails with the link's name and target where it leads to nothing`(
        _ name: String,
        _ target: String,
        _ reason: String
    ) throws {
        try folder.makeSymbolicLink(name, to: FilePath(target))
        let path = FilePath(given: "\(folder.path)/link/../\(name)/store")
        #expect(path == folder("\(name)/store"))
        let reported = "\(folder(name)) is a symbolic link to \(target), \(reason)"
        #expect(BrokenLink(onTheWayTo: path)?.description == reported)
        #expect { try disk.makeDirectory(path) } throws: { "\($0)".hasSuffix(": \(reported)") }
        #expect { try disk.read(path, limit: 10) } throws: { "\($0)" == "cannot read \(path): \(reported)" }
        #expect { try disk.makeDirectory(path.removingLastComponent()) } throws: { "\($0)".hasSuffix(": \(reported)") }
        #expect(try folder.tree() == [name, "link", "real", "real/inner", "real/inner/file"].sorted())
    }

    @Test(.enabled(if: geteuid() == 0, "another user's link is root's to make"))
    func `is not followed through a link of a third user`() throws {
        try folder.makeSymbolicLink("planted", to: "real")
        let given = unsafe lchown(folder("planted").string, 65_534, 65_534)
        #expect(given == 0)
        #expect(resolved("planted/inner") == "/planted/inner")
        #expect { try disk.list(folder("planted")) } throws: {
            "\($0)".hasSuffix("\(folder("planted")) is a symbolic link that another user made, so it is not followed")
        }
    }

    @Test func `may lie below a link, and no folder is made behind one in its place`() throws {
        let store = folder("link/store")
        try disk.makeDirectory(FilePath(given: store.string))
        #expect(try disk.status(of: folder("real/store"))?.kind == .directory)
        try folder.makeSymbolicLink("real/store/objects", to: folder("real/inner"))
        #expect(throws: FileError.notDirectory(.makeDirectory, store.appending("objects"))) {
            try disk.makeDirectory(store.appending("objects"))
        }
        #expect(throws: FileError.notDirectory(.makeDirectory, store.appending("objects"))) {
            try disk.makeDirectory(store.appending("objects").appending("ab"))
        }
        #expect(try disk.list(folder("real/inner")) == ["file"])
    }
}
