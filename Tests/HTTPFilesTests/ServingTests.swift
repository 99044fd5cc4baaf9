import HTTPCore
import HTTPFiles
import NIOHTTP1
import SystemPackage
import Testing

@Suite("A served file", .timeLimit(.minutes(10)))
struct ServingTests {
    let folder: TemporaryFolder
    let source: ClosureSource

    init() throws {
        folder = try TemporaryFolder()
        let file = try folder.write("0123456789", to: "digits.txt")
        source = .answering { request in
            guard request.path.text == "/digits.txt" else { return .notFound }
            return .file(
                ServedFile(
                    path: file,
                    entityTag: "v1",
                    contentType: "text/plain",
                    cacheControl: "max-age=60",
                    headers: ["X-SourceMap": "/digits.map", "Vary": "Accept"],
                    size: 10
                )
            )
        }
    }

    @Test func `comes whole, with everything that describes it`() async throws {
        let response = try await TestServer.running(source) { try await $0.get("/digits.txt") }
        #expect(response.status == 200)
        #expect(response.text == "0123456789")
        #expect(response["Content-Length"] == "10")
        #expect(response["Content-Type"] == "text/plain")
        #expect(response["Cache-Control"] == "max-age=60")
        #expect(response["ETag"] == #""v1""#)
        #expect(response["Accept-Ranges"] == "bytes")
        #expect(response["X-Content-Type-Options"] == "nosniff")
        #expect(response["X-SourceMap"] == "/digits.map")
        #expect(response["Connection"] == "keep-alive")
        #expect(try #require(response["Date"]).hasSuffix(" GMT"))
    }

    @Test(arguments: ["/digits.txt", "/nothing"])
    func `is described by HEAD as by GET, without a body`(target: String) async throws {
        try await TestServer.running(source) { server in
            let whole = try await server.get(target)
            try await server.connected { client in
                try await client.send(request("HEAD", target, ["Connection: close"]))
                let head = try await client.response(toHead: true)
                #expect(head.status == whole.status)
                let varying: Set = ["Date", "Connection"]
                #expect(
                    head.headers.filter { !varying.contains($0.name) }.map { "\($0)" }
                        == whole.headers.filter { !varying.contains($0.name) }.map { "\($0)" }
                )
                #expect(await client.rest() == [])
            }
        }
    }

    @Test func `is not sent again to one who has it`() async throws {
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/digits.txt", [#"If-None-Match: W/"v1""#, "Connection: close"]))
                let response = try await client.response()
                #expect(response.status == 304)
                #expect(response["ETag"] == #""v1""#)
                #expect(response["Cache-Control"] == "max-age=60")
                #expect(response["Vary"] == "Accept")
                #expect(response["Content-Type"] == nil)
                #expect(response["Content-Length"] == nil)
                #expect(await client.rest() == [])
            }
        }
    }

    @Test(arguments: [
        (range: "bytes=2-4", text: "234", contentRange: "bytes 2-4/10"),
        (range: "bytes=7-", text: "789", contentRange: "bytes 7-9/10"),
        (range: "bytes=-2", text: "89", contentRange: "bytes 8-9/10"),
    ])
    func `comes in part when a range asks for it`(range: String, text: String, contentRange: String) async throws {
        let response = try await TestServer.running(source) { try await $0.get("/digits.txt", "Range: \(range)") }
        #expect(response.status == 206)
        #expect(response.text == text)
        #expect(response["Content-Range"] == contentRange)
        #expect(response["Content-Length"] == String(text.utf8.count))
        #expect(response["ETag"] == #""v1""#)
        #expect(response["Cache-Control"] == "max-age=60")
        #expect(response["Content-Type"] == "text/plain")
    }

    @Test(arguments: ["bytes=0-1,3-4", "bytes=x", "lines=1-2"])
    func `comes whole when a range is not one that can be served`(range: String) async throws {
        let response = try await TestServer.running(source) { try await $0.get("/digits.txt", "Range: \(range)") }
        #expect(response.status == 200)
        #expect(response.text == "0123456789")
        #expect(response["Content-Range"] == nil)
    }

    @Test func `tells its size to a range beyond its end`() async throws {
        let response = try await TestServer.running(source) { try await $0.get("/digits.txt", "Range: bytes=10-") }
        #expect(response.status == 416)
        #expect(response["Content-Range"] == "bytes */10")
        #expect(response["ETag"] == nil && response.text == "No such range.\n")
    }

    @Test func `is refused when it is not the one that If-Match asks for`() async throws {
        let response = try await TestServer.running(source) { try await $0.get("/digits.txt", #"If-Match: "v0""#) }
        #expect(response.status == 412)
        #expect(response["ETag"] == nil && response.text == "The precondition failed.\n")
    }

    @Test func `comes whole when If-Range names another`() async throws {
        let response = try await TestServer.running(source) {
            try await $0.get("/digits.txt", "Range: bytes=2-4", #"If-Range: "v0""#)
        }
        #expect(response.status == 200)
        #expect(response.text == "0123456789")
    }

    @Test func `may be empty`() async throws {
        let file = try folder.write("", to: "empty")
        let source = ClosureSource.answering { _ in .file(ServedFile(path: file, size: 0)) }
        let response = try await TestServer.running(source) { try await $0.get("/") }
        #expect(response.status == 200)
        #expect(response["Content-Length"] == "0")
        #expect(response["Content-Type"] == "application/octet-stream")
        #expect(response["Cache-Control"] == "no-cache")
    }

    @Test func `may be larger than what is held in memory, and each byte arrives in its place`() async throws {
        let text = (0..<100_000).map { String($0) }.joined(separator: ",")
        let file = try folder.write(text, to: "large")
        let source = ClosureSource.answering { _ in .file(ServedFile(path: file)) }
        try await TestServer.running(source) { server in
            #expect(try await server.get("/").text == text)
            let part = try await server.get("/", "Range: bytes=200000-500000")
            #expect(part.text == String(text.dropFirst(200_000).prefix(300_001)))
        }
    }
}

@Suite("Bytes in memory", .timeLimit(.minutes(10)))
struct ServedBytesTests {
    @Test func `are served like a file`() async throws {
        try await TestServer.running(.digits) { server in
            let whole = try await server.get("/")
            #expect(whole.text == "0123456789")
            #expect(try await server.get("/", #"If-None-Match: "v1""#).status == 304)
            #expect(try await server.get("/", "Range: bytes=-3").text == "789")
            #expect(try await server.get("/", #"If-Match: "v0""#).status == 412)
        }
    }

    @Test func `with another status are sent whole and unconditionally`() async throws {
        let bytes = Array("queued".utf8)
        let source = ClosureSource.answering { _ in
            .bytes(ServedBytes(status: .accepted, bytes: bytes, entityTag: "v1", contentType: "text/plain"))
        }
        let response = try await TestServer.running(source) {
            try await $0.get("/", #"If-None-Match: "v1""#, "Range: bytes=0-0")
        }
        #expect(response.status == 202)
        #expect(response.text == "queued")
    }

    @Test func `are not sent with 204`() async throws {
        let source = ClosureSource.answering { _ in
            .bytes(ServedBytes(status: .noContent, bytes: [1], contentType: "text/plain"))
        }
        try await TestServer.running(source) { server in
            try await server.connected { client in
                try await client.send(request("GET", "/", ["Connection: close"]))
                let response = try await client.response()
                #expect(response.status == 204)
                #expect(response["Content-Length"] == nil && response["Content-Type"] == nil)
                #expect(await client.rest() == [])
            }
        }
    }
}

@Suite("A refusal", .timeLimit(.minutes(10)))
struct RefusalTests {
    @Test func `is a line of text that is not cached unless the source says so`() async throws {
        let source = ClosureSource.answering { request in
            request.path.text == "/root.json"
                ? .refused(.notFound, message: "No such root.", headers: ["Cache-Control": "max-age=60"]) : .notFound
        }
        try await TestServer.running(source) { server in
            let plain = try await server.get("/")
            #expect(plain.status == 404)
            #expect(plain.text == "Not found.\n")
            #expect(plain["Content-Type"] == "text/plain")
            #expect(plain["Cache-Control"] == "no-cache")
            let cached = try await server.get("/root.json")
            #expect(cached.text == "No such root.\n")
            #expect(cached["Cache-Control"] == "max-age=60")
        }
    }

    @Test func `cannot be split into two responses by a field's value`() async throws {
        let source = ClosureSource.answering { _ in
            let fields = [
                ("Location", "/a\r\nX-Forged: yes\r\n\r\nHTTP/1.1 200 OK"), ("X Bad", "1"), ("Content-Length", "999"),
                ("Transfer-Encoding", "chunked"),
            ]
            return .refused(.found, message: "Moved.", headers: HTTPHeaders(fields))
        }
        let response = try await TestServer.running(source) { try await $0.get("/") }
        #expect(response["Location"] == "/a  X-Forged: yes    HTTP/1.1 200 OK")
        #expect(response["X-Forged"] == nil)
        #expect(response["X Bad"] == nil)
        #expect(response["Transfer-Encoding"] == nil)
        #expect(response.headers["Content-Length"] == ["7"])
    }
}
