import HTTPCore
import HTTPFiles
import NIOHTTP1
import SystemPackage
import Testing

/// A source that has a word in every answer.
private struct MarkingSource: FileSource {
    let acceptsBodies = true

    func everyAnswerFields(to headers: HTTPHeaders?) -> HTTPHeaders {
        ["X-Frame-Options": "DENY", "X-Read": headers == nil ? "no" : "yes", "Vary": "Origin"]
    }

    func words(for refusal: String, _ status: HTTPResponseStatus, of target: String) -> RefusalBody? {
        guard target.hasPrefix("/worded") else { return nil }
        return RefusalBody(contentType: "text/x-words", bytes: Array("\(status.code) \(target)".utf8))
    }

    func decide(_ request: FileRequest) -> FileDecision {
        guard request.path.text.hasPrefix("/prepared") else { return .later(.whole, reply) }
        return .now(PreparedReply(reply(to: request)))
    }

    private func reply(to request: FileRequest) -> FileAnswer {
        switch request.path.segments.last {
        case "gone": .notFound
        case "broken": .file(ServedFile(path: "/", entityTag: "v1"))
        case "own": .refused(.conflict, message: "No.", headers: ["X-Frame-Options": "SAMEORIGIN", "Vary": "Accept"])
        default: .bytes(.digits)
        }
    }
}

/// One request that is answered with a status, and what the server grants before.
private struct Asked: Sendable, CustomTestStringConvertible {
    let status: Int
    let text: String
    var isRead = true
    var configure: @Sendable (inout FileServerConfiguration) -> Void = { _ in }

    var testDescription: String { "\(status): \(text.prefix(50))" }
}

private let answers: [Asked] =
    ["/", "/prepared"].flatMap { path in
        [
            Asked(status: 200, text: request("GET", path)),
            Asked(status: 206, text: request("GET", path, ["Range: bytes=1-2"])),
            Asked(status: 304, text: request("GET", path, ["If-None-Match: \"v1\""])),
            Asked(status: 412, text: request("GET", path, ["If-Match: \"v2\""])),
            Asked(status: 416, text: request("GET", path, ["Range: bytes=90-"])),
            Asked(status: 404, text: request("GET", "\(path)/gone")),
        ]
    } + [
        Asked(status: 404, text: request("GET", "/broken")),
        Asked(status: 405, text: request("CONNECT", "/")),
        Asked(status: 400, text: request("GET", "/%zz")),
        Asked(status: 400, text: request("POST", "/", ["Content-Length: x"])),
        Asked(status: 400, text: "nonsense\r\n\r\n", isRead: false),
        Asked(status: 408, text: "GET / HTTP/1.1\r\n", isRead: false) { $0.headerTimeout = .milliseconds(20) },
        Asked(status: 408, text: request("POST", "/", ["Content-Length: 9"])) { $0.bodyTimeout = .milliseconds(20) },
        Asked(status: 413, text: request("POST", "/", ["Content-Length: 9"])) { $0.maxBodyBytes = 8 },
        Asked(status: 414, text: request("GET", "/123456789"), isRead: false) { $0.maxTargetBytes = 8 },
        Asked(status: 417, text: request("POST", "/", ["Content-Length: 1", "Expect: a wonder"])),
        Asked(status: 431, text: request("GET", "/", ["X: \(String(repeating: "x", count: 99))"]), isRead: false) {
            $0.maxHeaderBytes = 64
            $0.maxTargetBytes = 32
        },
        Asked(status: 501, text: request("BREW", "/")),
        Asked(status: 501, text: request("POST", "/", ["Transfer-Encoding: gzip, chunked"])),
        Asked(status: 505, text: "GET / HTTP/2.0\r\nHost: a\r\n\r\n", isRead: false),
    ]

@Suite("Every answer", .timeLimit(.minutes(10)))
struct EveryAnswerTests {
    @Test(arguments: answers)
    fileprivate func `carries the fields that its source has for all of them`(asked: Asked) async throws {
        try await TestServer.running(MarkingSource(), configure: asked.configure) { server in
            try await server.connected { client in
                try await client.send(asked.text)
                let answer = try await client.response()
                #expect(answer.status == asked.status, "\(answer.text)")
                #expect(answer.headers["X-Frame-Options"] == ["DENY"])
                #expect(answer.headers["Vary"] == ["Origin"])
                #expect(answer.headers["X-Read"] == [asked.isRead ? "yes" : "no"])
            }
        }
    }

    @Test func `carries them also to a connection that is one too many`() async throws {
        let source = HoldingSource(MarkingSource())
        try await TestServer.running(source, configure: { $0.maxConnections = 1 }) { server in
            try await server.connected { first in
                let held = try await source.holding(&first) {
                    try await server.connected { second in
                        let answer = try await second.response()
                        #expect(answer.status == 503 && answer.headers["X-Frame-Options"] == ["DENY"])
                        #expect(answer.headers["X-Read"] == ["no"])
                    }
                }
                #expect(held.status == 200)
            }
        }
    }

    @Test(arguments: [
        (404, "GET", "/worded/gone"), (404, "GET", "/worded/prepared/gone"), (405, "CONNECT", "/worded"),
        (400, "GET", "/worded/%zz"), (400, "GET", "/worded%00"), (501, "BREW", "/worded"),
    ])
    func `that is a refusal has its source's words where it has any`(
        _ status: Int,
        _ method: String,
        _ target: String
    ) async throws {
        try await TestServer.running(MarkingSource()) { server in
            for (asked, words) in [(target, "\(status) \(target)"), (String(target.dropFirst(7)), nil)] {
                try await server.connected { client in
                    try await client.send(request(method, asked.hasPrefix("/") ? asked : "/" + asked))
                    let answer = try await client.response()
                    #expect(answer.status == status || words == nil)
                    #expect((answer.headers["Content-Type"] == ["text/x-words"]) == (words != nil))
                    if let words { #expect(answer.text == words && answer["Cache-Control"] == "no-store") }
                }
            }
        }
    }

    @Test func `keeps its own field of that name, but for Vary, which grows`() async throws {
        try await TestServer.running(MarkingSource()) { server in
            for target in ["/own", "/prepared/own"] {
                let answer = try await server.get(target)
                #expect(answer.status == 409)
                #expect(answer.headers["X-Frame-Options"] == ["SAMEORIGIN"])
                #expect(answer.headers["Vary"] == ["Accept", "Origin"])
            }
        }
    }
}
