import Foundation
import HTTPCore
import HTTPFiles
import SystemPackage
import Testing

@Suite("A folder's files")
struct FolderFilesTests {
    let folder: TemporaryFolder
    let files: FolderFiles

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("secret", to: "secret.txt")
        try folder.write("hello", to: "root/a/b.txt")
        try folder.write("hidden", to: "root/.env")
        try folder.write("hidden", to: "root/.git/config")
        try folder.link("root/a/link.txt", to: "b.txt")
        try folder.link("root/a/out.txt", to: "../../secret.txt")
        try folder.link("root/linked", to: "a")
        try folder.link("root/up", to: "..")
        try folder.link("root/dangling", to: "nowhere")
        files = FolderFiles(root: folder.path.appending("root"))
    }

    @Test(arguments: ["/a/b.txt", "/./a//b.txt", "/x/../a/b.txt", "/../a/b.txt", "/%2e%2e/a/b.txt"])
    func `are found with their size and time`(target: String) throws {
        let found = try #require(try files.lookUp(RequestPath(parsing: target)))
        #expect(found.size == 5)
        #expect(found.path == folder.path.appending("root/a/b.txt"))
        let attributes = try FileManager.default.attributesOfItem(atPath: found.path.string)
        let date = try #require(attributes[.modificationDate] as? Date)
        #expect(found.modified.components.seconds == Int64(date.timeIntervalSince1970))
    }

    @Test(arguments: [
        "/", "/a", "/a/", "/a/b.txt/", "/nothing", "/a/nothing", "/a/b.txt/deeper", "/../secret.txt",
        "/%2e%2e/secret.txt", "/.env", "/.git/config", "/a/link.txt", "/a/out.txt", "/linked/b.txt", "/up/secret.txt",
        "/dangling", "/linked", "/\(String(repeating: "n", count: 300))",
    ])
    func `are nothing but regular files below the root, by no symlink, with no leading dot`(target: String) throws {
        #expect(try files.lookUp(RequestPath(parsing: target)) == nil)
    }

    @Test func `do not include a named pipe, and looking does not wait for its writer`() throws {
        let pipe = files.root.appending("pipe").string
        #expect(unsafe mkfifo(pipe, 0o644) == 0)
        #expect(try files.lookUp(RequestPath(parsing: "/pipe")) == nil)
    }

    @Test func `may lie below a root that is itself a symlink`() throws {
        try folder.link("current", to: "root")
        let files = FolderFiles(root: folder.path.appending("current"))
        #expect(try files.lookUp(RequestPath(parsing: "/a/b.txt"))?.size == 5)
    }
}
