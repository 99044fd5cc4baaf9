import HTTPAPI
import HTTPCore
import NIOCore
import NIOHTTP1
import PatchFormat
import PatchServer
import ReleaseService
import ServerRecords
import Testing

@testable import HTTPFiles
@testable import ReleaseAPI

@Suite("What the API does not do", .timeLimit(.minutes(10)))
struct RefusalTests {
    /// An admin's requests.
    private static let refused: [(String, String)] = [
        ("GET /api/v1/nothing", "404 There is nothing here; GET /api/v1/openapi.json lists the paths."),
        ("DELETE /api/v1/apps", "405 this takes GET, HEAD, POST"),
        ("GET /api/v1/apps/a!b", "400 app must be 1 to 128 of A-Z a-z 0-9 . _ - and not '.' or '..'"),
        ("GET /api/v1/audit?last=1&last=2", "400 last is twice in the query"),
        ("GET /api/v1/audit?last=x", "400 last must be an integer from 1 to 500"),
        ("GET /api/v1/identity?token=5e5e5e5e5e5e5e5e", "400 nonce must be 64 lowercase hex digits"),
        ("GET /api/v1/identity?token=5e&nonce=\(digest)", "400 token must be 16 lowercase hex digits"),
        ("GET /api/v1/identity?app=a!b", "400 app must be 1 to 128 of A-Z a-z 0-9 . _ - and not '.' or '..'"),
        ("GET /api/v1/identity?root=0", "400 root must be an integer from 1 to 9007199254740991"),
        ("GET /api/v1/apps/a/published?path=nothing", "404 the tree has no such document"),
        ("GET /api/v1/apps/a/published?path=metadata/7.root.json", "404 this server does not know the app a"),
        ("PATCH /api/v1/apps/a/uploads/5e5e/parts/\(digest)", "400 the field Upload-Offset is missing"),
        ("PATCH /api/v1/apps/a/uploads/5e5e/parts/5e", "400 sha256 must be 64 lowercase hex digits"),
        ("DELETE /api/v1/apps/a/channels/b/answers/x/web", "400 target must be everyone or 64 lowercase hex digits"),
        ("DELETE /api/v1/apps/a/channels/b/answers/everyone/web", "404 this server does not know the app a"),
        (
            #"POST /api/v1/apps/a/channels/b/answers {"patchId":"web","hold":true,"version":"1"}"#,
            "400 body: hold excludes version"
        ),
        (#"POST /api/v1/apps/a/channels/b/dial {"changes":[]}"#, "400 body: changes must contain at least one"),
        (
            #"POST /api/v1/apps/a/channels/b/dial {"changes":[{"subject":"web@1","action":"stop"}]}"#,
            "400 body: changes[0].action must be pause, resume, rollout, headcount or ramp"
        ),
        (
            #"POST /api/v1/apps/a/channels/b/dial {"changes":[],"default":10001}"#,
            "400 body: default must be an integer from 0 to 10000"
        ),
        (#"POST /api/v1/tokens {"name":"CI","grants":[],"days":1}"#, "400 body: grants must contain at least one"),
        (
            #"POST /api/v1/tokens {"name":"CI","grants":["a"],"days":1}"#,
            "400 body: grants must be APP=ROLE, APP/CHANNEL=ROLE or *=ROLE, ROLE being viewer, publisher, operator or admin"
        ),
        ("DELETE /api/v1/tokens/5e5e", "404 there is no such token of an app that you are admin of"),
        ("POST /api/v1/tokens {", "400 body is not JSON (byte 1)"),
    ]

    private static let digest = String(repeating: "5e", count: 32)

    @Test func `is said word by word`() async throws {
        try await RunningOperators.with { operators in
            let requests = Self.refused.map { row in
                let words = row.0.split(separator: " ", maxSplits: 2).map(String.init)
                let body = words.count > 2 ? words[2] : ""
                let fields =
                    body.isEmpty ? [] : ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
                return Self.head(words[0], words[1], operators.token, fields) + body
            }
            let answers = try await Self.answers(operators, requests)
            for ((request, expected), answer) in zip(Self.refused, answers) {
                #expect(answer == expected, "\(request)")
            }
        }
    }

    @Test func `with a body in a compressed form that it does not know is said word by word`() async throws {
        try await RunningOperators.with { operators in
            let fields = ["Upload-Offset: 0", "Content-Encoding: br", "Content-Length: 0"]
            let part = "/api/v1/apps/a/uploads/5e5e/parts/\(Self.digest)"
            let answers = try await Self.answers(operators, [Self.head("PATCH", part, operators.token, fields)])
            #expect(answers == ["415 the body's Content-Encoding must be zstd, gzip or identity"])
        }
    }

    @Test func `because of the token is said word by word`() async throws {
        try await RunningOperators.with { operators in
            let records = operators.operations.records
            func token(
                _ grant: String,
                as name: String = "CI",
                for time: Duration = .days(1)
            ) async throws -> (id: String, text: String) {
                let made = try await records.makeToken(
                    name: name,
                    grants: [try #require(AccessGrant(grant))],
                    for: time,
                    by: .server
                )
                return (made.token.id, made.text.text)
            }
            let (viewer, revoked) = (try await token("a=viewer"), try await token("a=admin", as: "lost"))
            let (expired, owner) = (
                try await token("a=admin", as: "owner", for: .zero), try await token("a=admin", as: "owner")
            )
            _ = try await records.revokeToken(revoked.id, by: .server)
            let unknown = "plt_\(String(repeating: "5", count: 16))_\(Self.digest)"
            let grants = #"{"name":"CI","grants":["b=viewer"],"days":1}"#
            let json = ["Content-Type: application/json", "Content-Length: \(grants.utf8.count)"]
            let requests = [
                "GET /api/v1/apps HTTP/1.1\r\nHost: a\r\n\r\n", Self.head("GET", "/api/v1/apps", "x"),
                Self.head("GET", "/api/v1/apps", unknown), Self.head("GET", "/api/v1/apps", expired.text),
                Self.head("GET", "/api/v1/apps", revoked.text),
                Self.head("GET", "/api/v1/apps/a/channels/b/dial", viewer.text),
                Self.head("POST", "/api/v1/apps/a/channels/b/dial", viewer.text, json) + grants,
                Self.head("GET", "/api/v1/apps/b", viewer.text),
                Self.head("POST", "/api/v1/tokens", owner.text, json) + grants,
                Self.head("POST", "/api/v1/tokens", owner.text, ["Content-Length: \(grants.utf8.count)"]) + grants,
                Self.head("POST", "/api/v1/tokens", owner.text, json) + grants.replacing("days", with: "dasy"),
                Self.head(
                    "POST",
                    "/api/v1/tokens",
                    owner.text,
                    ["Content-Type: application/json", "Content-Length: 9999999"]
                ),
            ]
            let answers = try await Self.answers(operators, requests)
            let response = try await operators.response(
                to: requests[1].replacing("Host", with: "Connection: close\r\nHost")
            )
            #expect(response.contains("\r\nWWW-Authenticate: Bearer realm=\"patchsrv\"\r\n"), "\(response)")
            #expect(
                answers == [
                    "401 a token is needed (send it as Authorization: Bearer plt_…; patchsrv token new makes one)",
                    "401 the Authorization field has no token of this server",
                    "401 this server does not know the token",
                    "401 the token has expired (ask an admin for a new one)",
                    "401 the token was revoked (ask an admin for a new one)",
                    "404 this server does not know the app a",
                    #"403 this needs the role operator on a; the token "CI" has the role viewer"#
                        + Self.making("a/b=operator"),
                    #"403 this needs the role viewer on b; the token "CI" has none"# + Self.making("b=viewer"),
                    "403 only an admin of an app makes tokens for it "
                        + "(`patchsrv token new` makes any token where the server runs, with --data in place of --server)",
                    "415 the body must be application/json",
                    "400 body: dasy is not a member of this request",
                    "413 the body must be at most 65536 bytes",
                ]
            )
        }
    }

    /// The hint with the command that makes a token with this grant.
    private static func making(_ grant: String) -> String {
        " (where the server runs: `patchsrv token new NAME --grant \(grant) --output NAME.token --data DIR`)"
    }

    @Test func `because of the channel is said word by word`() async throws {
        try await RunningOperators.with { operators in
            let grant = try #require(AccessGrant("a/beta=operator"))
            let made = try await operators.operations.records
                .makeToken(name: "ci", grants: [grant], for: .days(1), by: .server)
            let token = made.text.text
            let empty = ["Content-Type: application/json", "Content-Length: 2"]
            let requests = [
                Self.head("GET", "/api/v1/apps/a", token), Self.head("GET", "/api/v1/apps/a/channels/beta/dial", token),
                Self.head("GET", "/api/v1/apps/a/channels/production/dial", token),
                Self.head("GET", "/api/v1/apps/a/channels/production/drafts/1", token),
                Self.head("GET", "/api/v1/apps/a/channels/production/history", token),
                Self.head("DELETE", "/api/v1/apps/a/channels/production/proposals/5e5e5e5e5e5e5e5e", token),
                Self.head("PUT", "/api/v1/apps/a/trust", token, empty) + "{}",
                Self.head("POST", "/api/v1/apps/b/uploads", token, empty) + "{}",
                Self.head("GET", "/api/v1/apps/b", token),
            ]
            let other =
                #"403 this needs the role viewer on a/production; the token "ci" has none"#
                + Self.making("a/production=viewer")
            #expect(
                try await Self.answers(operators, requests) == [
                    "404 this server does not know the app a", "404 this server does not know the app a", other, other,
                    other,
                    #"403 this needs the role publisher on a/production; the token "ci" has none"#
                        + Self.making("a/production=publisher"),
                    #"403 this needs the role admin on a; the token "ci" has none"# + Self.making("a=admin"),
                    #"403 this needs the role publisher on b; the token "ci" has none"# + Self.making("b=publisher"),
                    #"403 this needs the role viewer on b; the token "ci" has none"# + Self.making("b=viewer"),
                ]
            )
        }
    }

    @Test func `for who asks too often is said word by word`() async throws {
        try await RunningOperators.with { operators in
            let wrong = Array(repeating: Self.head("GET", "/api/v1/apps", "x"), count: 61)
            let wrongly = try await Self.answers(operators, wrong)
            #expect(wrongly.last == "429 too many wrong tokens were sent")
            let right = Array(repeating: Self.head("GET", "/api/v1/whoami", operators.token), count: 1_201)
            let rightly = try await Self.answers(operators, right)
            #expect(rightly.last == "429 this token sends too many requests")
        }
    }

    @Test func `is said where there is no release service, and to a device that asks in another way`() async throws {
        #expect(APIProblem.internal.detail == "the server could not do this; its log has the reason")
        let folder = try RunningOperators.Folder()
        let none = try RunningOperators.routes(folder, nil)
        let nowhere = FileRequest(method: .GET, path: try RequestPath(parsing: "/api/v1/apps"))
        guard case .bytes(let nothing) = await none.decide(nowhere).answer(to: nowhere) else {
            Issue.record("it is answered otherwise")
            return
        }
        let words = try Self.words(String(decoding: nothing.bytes, as: UTF8.self))
        #expect("\(nothing.status.code) \(words)" == "404 There is nothing here.")
        let answers = DeviceAnswers(try folder.operations(), sinceStart: { .zero }, report: { Issue.record("\($0)") })
        let path = "/api/v1/apps/a/channels/b/answer"
        func asked(_ method: HTTPMethod, _ body: RequestStream? = nil) async throws -> String {
            let plain = FileRequest(method: method, path: try RequestPath(parsing: path))
            let request = body.map { plain.with($0) } ?? plain
            guard let path = AnswerPath(request.path) else { return "no question" }
            guard case .bytes(let answer) = await answers.answer(request, at: path) else { return "no answer" }
            return "\(answer.status.code) \(try Self.words(String(decoding: answer.bytes, as: UTF8.self)))"
        }
        let read = try await asked(.GET)
        #expect(read == "405 this takes POST")
        var last = ""
        for _ in 0...1_200 { last = try await asked(.POST, RequestStream(length: 9_999_999, pieces: DemandChannel())) }
        #expect(last == "429 too many devices send requests at once")
    }

    // MARK: Asking

    private static func head(_ method: String, _ path: String, _ token: String, _ fields: [String] = []) -> String {
        (["\(method) \(path) HTTP/1.1", "Host: a", "Authorization: Bearer \(token)"] + fields).map { $0 + "\r\n" }
            .joined() + "\r\n"
    }

    /// What is said to each, on one connection: the status, the problem and what to do.
    private static func answers(_ operators: RunningOperators, _ requests: [String]) async throws -> [String] {
        try await operators.connected { client in
            var answers: [String] = []
            try await client.send(requests.joined())
            for _ in requests {
                let head = try await client.read(to: "\r\n\r\n")
                let length = try #require(head.firstMatch(of: #/(?i)content-length: (\d+)/#))
                let body = try await client.read(count: try #require(Int(length.1)))
                answers.append("\(head.dropFirst(9).prefix(3)) \(try words(body))")
            }
            return answers
        }
    }

    /// The problem and, in brackets, what to do.
    private static func words(_ body: String) throws -> String {
        let json = try Fields(try JSON.document(Array(body.utf8), named: "answer", limit: 100_000), of: "answer")
        let hint = try json.optionalString("hint").map { " (\($0))" } ?? ""
        return "\(try json.optionalString("detail") ?? "")\(hint)"
    }
}
