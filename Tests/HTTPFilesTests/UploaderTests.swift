@testable import FolderUploads
import Foundation
import HTTPCore
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PatchStore
import PatchTesting
import SystemPackage
import Testing

/// The names and contents of a folder of three, which most tests leave as it is.
private let three = ["a.txt": "a.txt", "images/": "", "images/b.png": "images/b.png"]

@Suite("The calls over an owner's folder")
struct UploaderTests {
    private func world() throws -> UploadWorld { try UploadWorld(with: ["a.txt", "images/b.png"]) }

    // MARK: Listing

    @Test func `list files with their size and folders with a slash, in the order of people`() async throws {
        let world = try UploadWorld(with: ["b10.txt", "B9.txt", "a/", "C.txt", "b09.txt"])
        let list = try await world.get("/list?path=%2F")
        #expect(
            list.body
                == #"[{"path":"\/a\/","name":"a"},{"path":"\/B9.txt","name":"B9.txt","size":6},"#
                + #"{"path":"\/b09.txt","name":"b09.txt","size":7},{"path":"\/b10.txt","name":"b10.txt","size":7},"#
                + #"{"path":"\/C.txt","name":"C.txt","size":5}]"#
        )
        #expect(try await world.get("/list?path=a").body == "[]")
    }

    @Test func `list neither hidden names nor links, nor what no path can name`() async throws {
        let disk = FaultyFiles()
        let world = try UploadWorld(disk, with: [".hidden", "a.txt", "back\\slash", "line\nbreak"])
        try disk.makeSymbolicLink("/content/link", to: "/content/a.txt")
        #expect(try await world.get("/list?path=/").body == #"[{"path":"\/a.txt","name":"a.txt","size":5}]"#)
    }

    @Test func `do not list a folder of more entries than a device should hold in memory`() async throws {
        var limits = UploaderLimits()
        limits.entries = 2
        let world = try UploadWorld(with: ["a", "b", "c", "d/e", "d/f"], limits: limits)
        #expect(
            try await world.get("/list?path=/") == .refused(500, #"\"/\" has more than 2 entries, so it is not listed"#)
        )
        #expect(try await world.get("/list?path=/d").status == 200)
    }

    // MARK: Where a path may lead

    @Test(
        arguments: [
            ("..", 400, "a path may not have the names . and .."),
            ("/../secret", 400, "a path may not have the names . and .."),
            ("images/../a.txt", 400, "a path may not have the names . and .."),
            ("%2e%2e/secret", 400, "a path may not have the names . and .."),
            ("images/%2E%2E%2F..%2fsecret", 400, "a path may not have the names . and .."),
            (".", 400, "a path may not have the names . and .."),
            ("/.patchline-uploads/1", 403, "the name \\\".patchline-uploads\\\" is not allowed"),
            (".%CC%81/a", 403, "the name \\\".\u{301}\\\" is not allowed"),
            ("a.txt%00", 400, "a name may not have control characters"),
            ("a%0Ab", 400, "a name may not have control characters"),
            ("a%5C..%5C..%5Csecret", 400, "a name may not have a backslash"),
            ("%FF", 400, "the form is not UTF-8"),
            ("a%", 400, "a % in the form is not followed by two hexadecimal digits"),
            ("a%2", 400, "a % in the form is not followed by two hexadecimal digits"),
            (String(repeating: "n", count: 256), 400, "a name is longer than 255 bytes"),
            (String(repeating: "n/", count: 513), 400, "a path is longer than 1024 bytes"),
            // One decoding, and no more.
            ("%252e%252e/secret", 404, "\\\"/%2e%2e/secret\\\" does not exist"),
            // An absolute path is one below the folder.
            ("/etc/passwd", 404, "\\\"/etc/passwd\\\" does not exist"),
            ("//etc//passwd", 404, "\\\"/etc/passwd\\\" does not exist"),
        ] as [(String, UInt, String)]
    )
    func `lead nowhere but below the folder, and then change nothing`(
        path: String,
        status: UInt,
        words: String
    ) async throws {
        let world = try world()
        try world.files.write([1], to: "/secret")
        let refusal = UploadWorld.Answer.refused(status, words)
        #expect(try await world.get("/list?path=\(path)") == refusal)
        #expect(try await world.get("/download?path=\(path)") == refusal)
        #expect(try await world.post("delete", "path=\(path)") == refusal)
        #expect(try await world.post("move", "oldPath=\(path)&newPath=stolen") == refusal)
        if status != 404 {
            #expect(try await world.post("create", "path=\(path)") == refusal)
            #expect(try await world.post("move", "oldPath=a.txt&newPath=\(path)") == refusal)
        }
        #expect(try world.tree() == three)
        #expect(try world.files.read("/secret", limit: 9) == [1])
    }

    @Test func `follow no link, neither to a file nor to a folder, nor one on the way`() async throws {
        let folder = try TemporaryFolder()
        try folder.write("secret", to: "outside/secret.txt")
        let root = folder.path.appending("content")
        let world = try UploadWorld(DiskFiles(), at: root, with: ["a.txt"])
        try link(root.appending("out"), to: folder.path.appending("outside"))
        try link(root.appending("secret.txt"), to: folder.path.appending("outside/secret.txt"))
        for path in ["out", "out/secret.txt", "secret.txt"] {
            let refusal = UploadWorld.Answer.refused(404, "\\\"/\(path)\\\" does not exist")
            #expect(try await world.get("/list?path=\(path)") == refusal)
            #expect(try await world.get("/download?path=\(path)") == refusal)
            #expect(try await world.post("delete", "path=\(path)") == refusal)
            #expect(try await world.post("move", "oldPath=\(path)&newPath=b") == refusal)
        }
        let noFolder = UploadWorld.Answer.refused(404, "\\\"/out\\\" does not exist")
        #expect(try await world.post("create", "path=out/new") == noFolder)
        #expect(try await world.post("move", "oldPath=a.txt&newPath=out/a.txt") == noFolder)
        #expect(try await world.upload("a.txt", "new", into: "out") == noFolder)
        // Its name is taken: nothing goes through it.
        #expect(try await world.upload("secret.txt", "new") == .done)
        #expect(
            try world.tree() == [
                ".patchline-uploads/": "", "a.txt": "a.txt", "out": "?", "secret.txt": "?", "secret (1).txt": "new",
            ]
        )
        #expect(try UploadWorld.tree(of: DiskFiles(), folder.path.appending("outside")) == ["secret.txt": "secret"])
    }

    private func link(_ path: FilePath, to target: FilePath) throws {
        try FileManager.default.createSymbolicLink(atPath: path.string, withDestinationPath: target.string)
    }

    // MARK: Downloads

    @Test(
        arguments: [
            ("a.txt", "attachment; filename=\"a.txt\"; filename*=UTF-8''a.txt"),
            ("a \"b\".txt", "attachment; filename=\"a _b_.txt\"; filename*=UTF-8''a%20%22b%22.txt"),
            ("Grüße.txt", "attachment; filename=\"Gr__e.txt\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.txt"),
        ]
    )
    func `send a file to be kept under its name`(name: String, disposition: String) async throws {
        let folder = try TemporaryFolder()
        let world = try UploadWorld(DiskFiles(), at: folder.path, with: [name])
        let query = "path=\(name.replacing(" ", with: "+"))"
        let answer = await world.answer(
            FileRequest(method: .GET, path: try RequestPath(parsing: "/download"), query: query)
        )
        guard case .file(let file) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(file.headers == ["Content-Disposition": disposition])
        #expect(file.path == folder.path.appending(name))
        #expect(file.root == folder.path)
    }

    @Test func `send a file as it is to be kept whole in the dialect of GCDWebServer, and by ranges in that of HTTP`()
        async throws
    {
        let folder = try TemporaryFolder()
        let world = try UploadWorld(DiskFiles(), at: folder.path, with: ["a.txt"])
        for (dialect, status, body) in [(Dialect.gcdWebServer(name: "S"), 200, "a.txt"), (.rfc9110, 206, "a.")] {
            let configure: @Sendable (inout FileServerConfiguration) -> Void = { $0.dialect = dialect }
            let response = try await TestServer.running(world.uploader, configure: configure) { server in
                try await server.get("/download?path=a.txt", "Range: bytes=0-1")
            }
            #expect(response.status == status)
            #expect(response.text == body)
            #expect(response["Content-Disposition"] == "attachment; filename=\"a.txt\"; filename*=UTF-8''a.txt")
            #expect(response["Accept-Ranges"] == (status == 206 ? "bytes" : nil))
        }
    }

    @Test func `tell a folder from a file, and both from nothing`() async throws {
        let world = try world()
        #expect(try await world.get("/download?path=images") == .refused(400, #"\"/images\" is a folder"#))
        #expect(try await world.get("/download?path=b") == .refused(404, #"\"/b\" does not exist"#))
        #expect(try await world.get("/list?path=a.txt") == .refused(400, #"\"/a.txt\" is not a folder"#))
        #expect(try await world.get("/list?path=a.txt/b") == .refused(404, #"\"/a.txt/b\" does not exist"#))
        #expect(try await world.post("create", "path=a.txt/b") == .refused(400, #"\"/a.txt\" is not a folder"#))
        #expect(try await world.post("create", "path=c/b") == .refused(404, #"\"/c\" does not exist"#))
        let into = try await world.post("move", "oldPath=a.txt&newPath=a.txt/b")
        #expect(into == .refused(400, #"\"/a.txt\" cannot be moved into itself"#))
        #expect(try world.tree() == three)
    }

    // MARK: Changes

    @Test func `make a folder, and another one with a number where the name is taken`() async throws {
        let world = try world()
        #expect(try await world.post("create", "path=%2FText+Files") == .done)
        #expect(try await world.post("create", "path=Text%20Files/") == .done)
        #expect(try await world.post("create", "path=images/a.b") == .done)
        #expect(try await world.post("create", "path=images/a.b") == .done)
        let made = ["Text Files/": "", "Text Files (1)/": "", "images/a.b/": "", "images/a (1).b/": ""]
        #expect(try world.tree() == three.merging(made) { $1 })
    }

    @Test func `move files and folders, and never over something`() async throws {
        let world = try world()
        #expect(try await world.post("move", "oldPath=a.txt&newPath=images/a.txt") == .done)
        #expect(try await world.post("move", "oldPath=/images/&newPath=/pictures") == .done)
        #expect(try await world.post("move", "oldPath=pictures/a.txt&newPath=pictures/b.png") == .done)
        #expect(try await world.post("move", "oldPath=pictures/b.png&newPath=pictures/b.png") == .done)
        #expect(
            try world.tree() == [
                "pictures/": "", "pictures/b (1).png": "a.txt", "pictures/b (2).png": "images/b.png",
            ]
        )
    }

    @Test func `move no folder into itself`() async throws {
        let world = try world()
        let refusal = UploadWorld.Answer.refused(400, #"\"/images\" cannot be moved into itself"#)
        #expect(try await world.post("move", "oldPath=images&newPath=images/c") == refusal)
        #expect(try await world.post("move", "oldPath=images&newPath=imagesc") == .done)
    }

    @Test func `delete a file, or a folder with all that is in it`() async throws {
        let world = try world()
        #expect(try await world.post("delete", "path=a.txt") == .done)
        #expect(try await world.post("delete", "path=images/") == .done)
        #expect(try world.tree() == [".patchline-uploads/": ""])
        #expect(try await world.post("delete", "path=images") == .refused(404, #"\"/images\" does not exist"#))
    }

    @Test(arguments: ["delete|path=/", "create|path=", "move|oldPath=/&newPath=a", "move|oldPath=a.txt&newPath=//"])
    func `leave the folder itself as it is`(call: String) async throws {
        let world = try world()
        let parts = call.split(separator: "|").map(String.init)
        #expect(try await world.post(parts[0], parts[1]) == .refused(403, "the folder itself cannot be changed"))
        #expect(try world.tree() == three)
    }

    @Test func `stop looking for a free number in the end`() async throws {
        var limits = UploaderLimits()
        limits.numbers = 2
        let world = try UploadWorld(with: ["a", "a (1)"], limits: limits)
        #expect(try await world.post("create", "path=a") == .refused(409, #"too many items have the name \"a\""#))
        let long = String(repeating: "n", count: 254)
        #expect(try await world.post("create", "path=\(long)") == .done)
        #expect(try await world.post("create", "path=\(long)") == .done)
        #expect(try await world.post("create", "path=\(long)n") == .done)
        #expect(try await world.post("create", "path=\(long)nn") == .refused(400, "a name is longer than 255 bytes"))
        #expect(try world.tree().keys.contains("\(long.dropLast(3)) (1)/"))
    }

    // MARK: Requests

    @Test(
        arguments: [
            ("move", "oldPath=a.txt", "newPath is missing"), ("move", "newPath=b", "oldPath is missing"),
            ("create", "", "path is missing"), ("delete", "Path=a.txt", "path is missing"),
            ("delete", "path=a.txt&path=images", "there is more than one path"),
            ("delete", String(repeating: "x=1&", count: 17) + "path=a.txt", "the form has too many fields"),
        ]
    )
    func `need each field once`(call: String, form: String, words: String) async throws {
        let world = try world()
        #expect(try await world.post(call, form) == .refused(400, words))
        #expect(try world.tree() == three)
    }

    @Test(
        arguments: [
            ("/", 404), ("/list/", 404), ("/list/a", 404), ("/lists", 404), ("/.patchline-uploads", 404),
        ] as [(String, UInt)]
    )
    func `are six`(target: String, status: UInt) async throws {
        let words = "the calls are list, download, upload, move, create and delete"
        #expect(try await world().get(target) == .refused(status, words))
    }

    @Test(arguments: [
        ("list", "GET, HEAD", HTTPMethod.POST), ("download", "GET, HEAD", .DELETE), ("delete", "POST", .GET),
    ])
    func `change something by POST alone`(call: String, allowed: String, method: HTTPMethod) async throws {
        let world = try world()
        let answer = await world.answer(try world.request("/\(call)?path=a.txt", method: method))
        guard case .bytes(let bytes) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(UploadWorld.Answer(answer) == .refused(405, "only \(allowed)"))
        #expect(bytes.headers == ["Allow": allowed])
        #expect(try world.tree() == three)
    }

    @Test(arguments: [("delete", "application/x-www-form-urlencoded"), ("upload", "multipart/form-data")])
    func `take no other type of form`(call: String, wanted: String) async throws {
        let world = try world()
        for type in ["text/plain", "application/json", "\(wanted)x", ""] {
            let body = Array("path=a.txt".utf8)
            let request = try world.request("/\(call)", body, method: .POST, ["Content-Type": type])
            let answer = UploadWorld.Answer(await world.answer(request))
            #expect(answer == .refused(415, "the body must be \(wanted)"))
        }
        #expect(try world.tree() == three)
    }

    @Test func `say that the disk failed, and tell the owner alone where`() async throws {
        let disk = FaultyFiles()
        _ = try UploadWorld(disk, with: ["a.txt"])
        let told = NIOLockedValueBox<[String]>([])
        let broken = disk.reopened(failingAtChange: 1, then: .running)
        let uploader = Uploader("/content", files: broken, below: ["x", "y"]) { line in
            told.withLockedValue { $0.append(line) }
        }
        let request = FileRequest(
            method: .POST,
            path: try RequestPath(parsing: "/x/y/delete"),
            headers: ["Content-Type": "application/x-www-form-urlencoded"],
            body: Array("path=a.txt".utf8)
        )
        #expect(uploader.takes(request))
        let answer = await uploader.decide(request).answer(to: request)
        #expect(UploadWorld.Answer(answer) == .refused(500, "the disk failed"))
        #expect(told.withLockedValue(\.self) == ["uploads: cannot remove /content/a.txt: Input/output error"])
    }
}
