import HTTPCore
import PatchCompression
import PatchFormat
import PatchCrypto
import Testing

@testable import PatchFetch

/// What comes of compressed answers, from servers on real sockets.
@Suite("A compressed answer", .timeLimit(.minutes(10)))
struct CompressedAnswerTests {
    private static let text = Array((0..<2_000).map { "line \($0) of a list\n" }.joined().utf8)
    private let path = "targets/list.json"

    /// What a document comes to, and the codings that were asked for, one request after the other.
    private func document(
        limit: Int = text.count,
        _ answer: @escaping @Sendable (_ isPlain: Bool) -> RawServer.Answer
    ) async throws -> (Result<Document, FetchError>, asked: [String]) {
        try await RawServer.running { head in
            answer(head.lowercased().contains("accept-encoding: identity"))
        } _: { server in
            try await HTTPFetcher.with([server.url()], app: RawServer.app, .patient) { sources in
                let request = FetchRequest(path, limit: limit, deadline: .seconds(600))
                let result: Result<Document, FetchError>
                do throws(FetchError) {
                    result = .success(try await sources[0].fetcher.document(request))
                } catch { result = .failure(error) }
                let asked = server.heads.flatMap { head in
                    head.lowercased().split(separator: "\r\n").filter { $0.hasPrefix("accept-encoding: ") }
                        .map { String($0.dropFirst(17)) }
                }
                return (result, asked)
            }
        }
    }

    @Test(arguments: CompressionFormat.allCases)
    func `of a document is decoded`(coding: CompressionFormat) async throws {
        let form = try coding.compressed(Self.text)
        let (result, asked) = try await document { _ in .answer(["Content-Encoding: \(coding.rawValue)"], form) }
        #expect(result == .success(Document(bytes: Self.text, coding: coding)))
        #expect(asked == ["zstd, gzip"])
    }

    /// What a server may do to its form; the file itself is right.
    private static func broken(_ coding: CompressionFormat) throws -> [(String, RawServer.Answer)] {
        let form = try coding.compressed(text)
        let field = "Content-Encoding: \(coding.rawValue)"
        let (half, bomb) = (Array(form.prefix(form.count / 2)), [UInt8](repeating: 0x20, count: 3_000_000))
        var damaged = form
        damaged[form.count / 2] ^= 0x10
        return [
            ("damaged", .answer([field], damaged)),
            ("ends early", .answer([field], half)),
            ("is none", .answer([field], Array(text.prefix(900)))),
            ("is a bomb", .answer([field], try coding.compressed(bomb))),
            ("is no smaller", .answer([field], [UInt8](repeating: 1, count: text.count + 1))),
            (
                "is no smaller, and does not say so",
                .endless(
                    "HTTP/1.1 200 OK\r\n\(field)\r\nTransfer-Encoding: chunked\r\n\r\n",
                    then: "400\r\n\(String(repeating: "x", count: 1_024))\r\n"
                )
            ),
            (
                "is announced with the length of the file",
                .last("HTTP/1.1 200 OK\r\n\(field)\r\nContent-Length: \(text.count)\r\n\r\nabc")
            ),
            ("is a page", .answer([field, "Content-Type: text/html"], Array("<html>".utf8))),
        ]
    }

    @Test(arguments: CompressionFormat.allCases)
    func `that is wrong in any way is asked for once more as it is, and that counts`(
        coding: CompressionFormat
    ) async throws {
        for (what, answer) in try Self.broken(coding) {
            let (result, asked) = try await document { isPlain in isPlain ? .answer([], Self.text) : answer }
            #expect(result == .success(Document(bytes: Self.text, coding: nil)), "\(what)")
            #expect(asked == ["zstd, gzip", "identity"], "\(what)")
        }
    }

    @Test func `that is wrong, of a file that is gone, is told by the file`() async throws {
        let (result, asked) = try await document { isPlain in
            isPlain ? .bytes(.answer("404 Not Found")) : .answer(["Content-Encoding: gzip"], [1, 2, 3])
        }
        #expect(result == .failure(.notFound(path)))
        #expect(asked == ["zstd, gzip", "identity"])
        // What is announced in a form and is none is taken as it is, where no form was asked for.
        let (stubborn, twice) = try await document { _ in .answer(["Content-Encoding: gzip"], [1, 2, 3]) }
        #expect(stubborn == .success(Document(bytes: [1, 2, 3], coding: nil)))
        #expect(twice == asked)
    }

    @Test func `of a page in place of a document is known when it is decoded`() async throws {
        let page = try CompressionFormat.gzip.compressed(Array("<html>\(String(repeating: "hotel ", count: 100))".utf8))
        let (result, asked) = try await document { _ in
            .answer(["Content-Encoding: gzip", "Content-Type: text/html"], page)
        }
        #expect(result == .failure(.webPage(path)) && asked == ["zstd, gzip"])
    }

    @Test(arguments: CompressionFormat.allCases)
    func `is handed over as it travels to whoever wants more than a document`(coding: CompressionFormat) async throws {
        let form = try coding.compressed(Self.text)
        let file = ExpectedFile(Fingerprint(of: Self.text))
        let field = "Content-Encoding: \(coding.rawValue)"
        let parts = try await RawServer.running { _ in
            .answer([field, "ETag: \"v1\(coding.suffix)\""], form)
        } _: { server in
            try await HTTPFetcher.with([server.url()], app: RawServer.app, .patient) { sources in
                let request = FetchRequest("objects/x", limit: file.size, deadline: .seconds(600), expected: file)
                var parts: [FetchedPart] = []
                try await sources[0].fetcher.fetch(request) { parts.append($0) }
                return parts
            }
        }
        #expect(
            parts.first == .head(FetchedHead(validator: "\"v1\(coding.suffix)\"", coding: coding, length: form.count))
        )
        let bytes = parts.reduce(into: [UInt8]()) { if case .bytes(let bytes) = $1 { $0 += bytes } }
        #expect(bytes == form)
    }

    @Test func `goes on at its own byte, in the same form`() async throws {
        let (request, heads) = try await RawServer.running { _ in
            .bytes("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 4-6/7\r\nContent-Length: 3\r\n\r\nabc")
        } _: { server in
            try await HTTPFetcher.with([server.url()], app: RawServer.app, .patient) { sources in
                let request = FetchRequest(
                    "objects/x",
                    limit: 10,
                    deadline: .seconds(600),
                    expected: ExpectedFile(Fingerprint(of: Array("0123456789".utf8))),
                    resume: .init(offset: 4, validator: "\"v1.zst\"", coding: .zstandard)
                )
                var parts: [FetchedPart] = []
                try await sources[0].fetcher.fetch(request) { parts.append($0) }
                return (parts, server.heads)
            }
        }
        #expect(request == [.head(FetchedHead(offset: 4, coding: .zstandard, length: 3)), .bytes(Array("abc".utf8))])
        let head = try #require(heads.first).lowercased()
        #expect(head.contains("\r\nrange: bytes=4-\r\n") && head.contains("\r\nif-range: \"v1.zst\""))
        #expect(head.contains("\r\naccept-encoding: zstd, gzip\r\n"))
    }
}
