import HTTPCore
import HTTPFiles
import NIOCore
import NIOHTTP1
import PatchFormat
import PatchCrypto
import PatchTrust
import Testing

@testable import AssetServer

@Suite("What a page is told")
struct PageTranscripts {
    @Test func `in place of what it asked for stands in its transcript`() throws {
        var pages = Transcript("pages", about: "What a page, or who asks like one, reads in place of an answer.")
        let target = "/shop?cdvToken=\(Self.token.text)"
        pages.list(
            "who is let in",
            try [
                answer("/", [("Host", "127.0.0.1:12552")]), answer("/", [("Host", "evil.example")]),
                answer("/", [("Host", "127.0.0.1:12552")], host: "name.localhost"),
                answer("/", [("Host", "127.0.0.1:12552"), ("Origin", "http://evil.example")], .POST),
                answer(target, [("Host", "127.0.0.1:12552"), ("Sec-Fetch-Mode", "navigate")]),
            ].map(said)
        )
        pages.list(
            "assets and calls",
            [
                .gone("main.js"), .damaged("main.js"), .otherVersionStarts, .tooManyPages, .stillStarting,
                PageAPI.answer(.unknown), PageAPI.noStamp, PageAPI.otherRelease("1.4.1", served: "1.4.2"),
                PageAPI.otherRelease("1.4.1", served: nil), TokenExchange.refused,
            ].map(said) + [Self.words(of: Array("{}".utf8))]
        )
        try pages.check()
    }

    private static func words(of body: [UInt8]) -> String {
        do throws(FormatError) {
            _ = try TokenExchange(body)
            return "taken"
        } catch { return error.description }
    }

    private static let token = AccessToken(random: [UInt8](repeating: 0xAB, count: 16))

    private static let pass = AccessToken(random: [UInt8](repeating: 0xCD, count: 16))

    private func answer(
        _ target: String,
        _ fields: [(String, String)],
        _ method: HTTPMethod = .GET,
        host: String? = nil
    ) throws -> FileAnswer {
        var access = Access(token: Self.token, under: .shared)
        if let host { access.hosts = [host] }
        let parts = target.split(separator: "?").map(String.init)
        let request = FileRequest(
            method: method,
            path: try RequestPath(parsing: target),
            query: parts.count > 1 ? parts[1] : nil,
            headers: HTTPHeaders(fields)
        )
        switch Admission(request, to: access, in: Session(port: 12_552, pass: Self.pass)) {
        case .answered(let answer): return answer
        case .admitted, .manifestOnly, .entering: return .notFound
        }
    }

    private func said(_ answer: FileAnswer) -> String {
        switch answer {
        case .refused(let status, let message, _): "\(status.code) \(message)"
        case .bytes(let bytes): "\(bytes.status.code) \(String(decoding: bytes.bytes, as: UTF8.self))"
        default: "\(answer)"
        }
    }
}
