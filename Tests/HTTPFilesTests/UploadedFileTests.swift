@testable import FolderUploads
import HTTPFiles
import NIOCore
import NIOHTTP1
import PatchStore
import PatchTesting
import SystemPackage
import Testing

/// What is left where uploads grow, once none does.
private let tidy = [".patchline-uploads/": ""]

@Suite("An upload into an owner's folder", .timeLimit(.minutes(10)))
struct UploadedFileTests {
    @Test func `gets its name, content and place`() async throws {
        let world = try UploadWorld(with: ["images/"])
        #expect(try await world.upload("a.txt", "one\r\n--two") == .done)
        #expect(try await world.upload("b", "", into: "/images/") == .done)
        // Without a path, into the folder itself.
        #expect(try await world.upload("c \\\"d\\\".txt", "three", into: nil) == .done)
        let made = ["a.txt": "one\r\n--two", "images/": "", "images/b": "", "c \"d\".txt": "three"]
        #expect(try world.tree() == tidy.merging(made) { $1 })
        #expect(try world.files.status(of: "/content/a.txt")?.permissions == FilePermissions(rawValue: 0o644))
    }

    @Test(arguments: [("*/*", "text/plain; charset=utf-8"), ("text/html, Application/JSON;q=0.1", "application/json")])
    func `is answered as JSON to who accepts that, else as text that a frame may show`(
        accepted: String,
        type: String
    ) async throws {
        let world = try UploadWorld()
        let fields: HTTPHeaders = [
            "Content-Type": "multipart/form-data; boundary=\(UploadWorld.boundary)", "Accept": accepted,
        ]
        let body = Array("\(UploadWorld.file("a", "x"))--\(UploadWorld.boundary)--".utf8)
        let answer = await world.answer(try world.request("/upload", body, method: .POST, fields))
        guard case .bytes(let bytes) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(bytes.contentType == type)
        #expect(UploadWorld.Answer(answer) == .done)
    }

    @Test func `may have its path after it, and fields that mean nothing`() async throws {
        let world = try UploadWorld(with: ["images/"])
        let parts = [
            UploadWorld.field("x", "1"), UploadWorld.file("a", "other", field: "file"), UploadWorld.file("a", "this"),
            UploadWorld.field("path", "images"),
        ]
        #expect(try await world.upload(parts: parts) == .done)
        #expect(try world.tree() == tidy.merging(["images/": "", "images/a": "this"]) { $1 })
    }

    @Test func `never takes the place of another: the second of a name gets a number`() async throws {
        let world = try UploadWorld(with: ["photo.tar.gz"])
        let answers = try await withThrowingTaskGroup(of: UploadWorld.Answer.self) { group in
            for number in 1...4 { group.addTask { try await world.upload("photo.tar.gz", "\(number)") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == [.done, .done, .done, .done])
        var tree = try world.tree()
        #expect(tree.removeValue(forKey: "photo.tar.gz") == "photo.tar.gz")
        let contents = (1...4).map { tree["photo.tar (\($0)).gz"] ?? "" }
        #expect(contents.sorted() == ["1", "2", "3", "4"])
        #expect(tree.count == 5)
    }

    @Test(
        arguments: [
            ("../a", 400, "a file must have one name"), ("/etc/passwd", 400, "a file must have one name"),
            ("", 400, "a file must have one name"), ("..", 400, "a path may not have the names . and .."),
            (".bashrc", 403, #"the name \".bashrc\" is not allowed"#),
            ("a\u{0}b", 400, "a name may not have control characters"),
            (#"a\..\b"#, 400, "a name may not have a backslash"),
            (String(repeating: "n", count: 256), 400, "a name is longer than 255 bytes"),
        ] as [(String, UInt, String)]
    )
    func `needs one name, which is a name`(name: String, status: UInt, words: String) async throws {
        let world = try UploadWorld()
        #expect(try await world.upload(name, "x") == .refused(status, words))
        #expect(try world.tree() == [:])
    }

    @Test func `goes only where there is a folder`() async throws {
        let world = try UploadWorld(with: ["a"])
        #expect(try await world.upload("b", "x", into: "a") == .refused(400, #"\"/a\" is not a folder"#))
        #expect(try await world.upload("b", "x", into: "c") == .refused(404, #"\"/c\" does not exist"#))
        let up = try await world.upload("b", "x", into: "a/../..")
        #expect(up == .refused(400, "a path may not have the names . and .."))
        #expect(try world.tree() == tidy.merging(["a": "a"]) { $1 })
    }

    @Test(
        arguments: [
            ([UploadWorld.field("path", "/")], "--\(UploadWorld.boundary)--", "files[] is missing"),
            ([UploadWorld.field("files[]", "text")], "--\(UploadWorld.boundary)--", "files[] is missing"),
            (
                [UploadWorld.file("a", "x"), UploadWorld.file("b", "x")], "--\(UploadWorld.boundary)--",
                "there is more than one files[]"
            ),
            (
                [UploadWorld.field("path", "/"), UploadWorld.field("path", "/"), UploadWorld.file("b", "x")],
                "--\(UploadWorld.boundary)--", "there is more than one path"
            ),
            (
                [UploadWorld.file("a", "x"), UploadWorld.field("path", String(repeating: "a", count: 1_025))],
                "--\(UploadWorld.boundary)--", "a field of the form is too long"
            ),
            ([UploadWorld.file("a", "x")], "", "the upload is incomplete"),
            ([UploadWorld.file("a", "x")], "--\(UploadWorld.boundary)", "the upload is incomplete"),
            (
                [UploadWorld.file("a", "x")], "--\(UploadWorld.boundary)x\r\n",
                "a boundary is followed by other text on its line"
            ),
            ([], "", "the upload is incomplete"),
        ] as [([String], String, String)]
    )
    func `leaves nothing when its form is not whole or not one file`(
        parts: [String],
        end: String,
        words: String
    ) async throws {
        let world = try UploadWorld()
        #expect(try await world.upload(parts: parts, end: end) == .refused(400, words))
        #expect(try world.tree().filter { $0.key != ".patchline-uploads/" } == [:])
    }

    @Test func `of too many bytes is refused, by its length before any of it is read`() async throws {
        var limits = UploaderLimits()
        limits.fileBytes = 10
        let world = try UploadWorld(limits: limits)
        let refusal = UploadWorld.Answer.refused(413, "the file is larger than 10 bytes")
        #expect(try await world.upload("a", "0123456789") == .done)
        #expect(try await world.upload("b", "0123456789x") == refusal)
        let junk = [UploadWorld.field("x", String(repeating: "x", count: 70_000)), UploadWorld.file("c", "x")]
        #expect(try await world.upload(parts: junk) == refusal)
        #expect(try world.tree() == tidy.merging(["a": "0123456789"]) { $1 })
    }

    @Test func `that fills the disk leaves nothing, and what was there stays`() async throws {
        let disk = FaultyFiles()
        let world = try UploadWorld(disk, with: ["a.txt"])
        disk.limitFreeSpace(to: 10)
        #expect(try await world.upload("a.txt", String(repeating: "x", count: 11)) == .refused(507, "the disk is full"))
        #expect(try world.tree() == tidy.merging(["a.txt": "a.txt"]) { $1 })
        // The space is free again.
        #expect(try await world.upload("b.txt", String(repeating: "x", count: 10)) == .done)
    }

    // MARK: The end of the process

    @Test func `that is killed at any change is under its name as a whole or not at all`() async throws {
        let content = String(repeating: "whole", count: 20)
        let disk = FaultyFiles()
        let before = try UploadWorld(disk, with: ["a.txt"])
        let counted = disk.reopened()
        _ = try await UploadWorld(counted).upload("a.txt", content)
        let changes = counted.changes
        #expect(changes > 5)
        for change in 1...changes {
            let killed = disk.reopened(failingAtChange: change, then: .stopped)
            let answer = try await UploadWorld(killed).upload("a.txt", content)
            #expect(answer == .refused(500, "the disk failed"), "change \(change)")
            for survival in FaultyFiles.Survival.allCases {
                try await expectAllOrNothing(killed.crashed(survival), content, "change \(change), \(survival)")
            }
            try await expectAllOrNothing(killed.reopened(), content, "change \(change), no power cut")
        }
        #expect(try before.tree() == ["a.txt": "a.txt"])
    }

    /// The name that was taken keeps its file; the new one is whole where it is at all; and the next start tidies up.
    private func expectAllOrNothing(_ disk: FaultyFiles, _ content: String, _ when: Comment) async throws {
        let world = try UploadWorld(disk)
        await world.uploader.tidy()
        var tree = try world.tree()
        #expect(tree.removeValue(forKey: "a.txt") == "a.txt", when)
        #expect([content, nil].contains(tree.removeValue(forKey: "a (1).txt")), when)
        #expect(tree == tidy, when)
    }

    @Test(arguments: FaultyFiles.Survival.allCases)
    func `that was answered is there after a power cut`(survival: FaultyFiles.Survival) async throws {
        let disk = FaultyFiles()
        let world = try UploadWorld(disk, with: ["images/"])
        #expect(try await world.upload("a.txt", "content", into: "images") == .done)
        #expect(try await world.post("create", "path=new") == .done)
        #expect(try await world.post("move", "oldPath=images/a.txt&newPath=new/b.txt") == .done)
        let after = try UploadWorld.tree(of: disk.crashed(survival), "/content")
        #expect(after.filter { $0.key.hasPrefix("new") } == ["new/": "", "new/b.txt": "content"])
        #expect(survival == .keep || after["images/a.txt"] == nil)
    }

    @Test func `beside it, a folder that is deleted goes as a whole`() async throws {
        let disk = FaultyFiles()
        let names = ["images/a", "images/b", "images/c/d"]
        let all = try UploadWorld(disk, with: names).tree()
        let counted = disk.reopened()
        _ = try await UploadWorld(counted).post("delete", "path=images")
        for change in 1...counted.changes {
            let killed = disk.reopened(failingAtChange: change, then: .stopped)
            _ = try await UploadWorld(killed).post("delete", "path=images")
            let world = try UploadWorld(killed.reopened())
            await world.uploader.tidy()
            let left = try world.tree().filter { $0.key != ".patchline-uploads/" }
            #expect(left == all || left == [:], "change \(change)")
        }
    }

    // MARK: Over a connection

    /// As long as the suite's time lasts.
    private func until(_ condition: () throws -> Bool) async throws {
        while try !condition() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    private static func head(_ length: Int) -> String {
        "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(length)\r\n"
            + "Content-Type: multipart/form-data; boundary=\(UploadWorld.boundary)\r\n\r\n"
    }

    @Test func `that is cut off in the middle leaves nothing`() async throws {
        let folder = try TemporaryFolder()
        let world = try UploadWorld(DiskFiles(), at: folder.path)
        let body = UploadWorld.file("a.bin", String(repeating: "x", count: 300_000))
        try await TestServer.running(world.uploader) { server in
            try await server.connected { client in
                try await client.send(Self.head(body.utf8.count + 100))
                try await client.send(String(body.dropLast(1_000)))
                // It has begun: there is a file, under no name that anybody sees.
                try await until { try world.tree()[".patchline-uploads/1"]?.isEmpty == false }
                #expect(try await world.get("/list?path=/").body == "[]")
            }
            try await until { try world.tree() == tidy }
        }
        #expect(try world.tree() == tidy)
    }

    @Test func `that is sent whole is kept, also when the client does not wait for the answer`() async throws {
        let folder = try TemporaryFolder()
        let world = try UploadWorld(DiskFiles(), at: folder.path)
        let content = String(repeating: "content", count: 100_000)
        let body = UploadWorld.file("a.bin", content) + "--\(UploadWorld.boundary)--\r\n"
        try await TestServer.running(world.uploader) { server in
            try await server.connected { client in
                try await client.send(Self.head(body.utf8.count))
                try await client.send(body)
            }
            try await until { try world.tree()["a.bin"] != nil }
        }
        #expect(try world.tree() == tidy.merging(["a.bin": content]) { $1 })
    }
}
