import Hummingbird
import NIOCore
import PageDiff
import PatchFormat
import PatchlinePages
import Subprocess
import Testing

/// A server of somebody else's, with the middleware in two lines, asked by curl.
@Suite("The middleware of a site's own server")
struct MiddlewareTests {
    private func serving(_ body: @escaping @Sendable (_ url: String) async throws -> Void) async throws {
        let router = Router()
        router.add(middleware: PageDifferences())
        router.get("/live/:number") { _, context in
            let number = context.parameters.get("number") ?? ""
            return Response(
                status: .ok,
                headers: [.contentType: "text/html"],
                body: .init(
                    byteBuffer: ByteBuffer(string: "<hr><!--sonicdiff-n--><b>\(number)</b><!--sonicdiff-n-end-->")
                )
            )
        }
        router.get("/written") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "text/html"],
                body: .init { writer in
                    try await writer.write(ByteBuffer(string: "<!--sonicdiff-n-->1<!--sonicdiff-n-end-->"))
                    try await writer.finish(nil)
                }
            )
        }
        router.get("/data") { _, _ in Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: "{}"))) }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask {
                for await port in ports {
                    try await body("http://127.0.0.1:\(port)")
                    return
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    private func get(_ url: String, _ fields: String...) async throws -> (head: String, body: String) {
        let arguments = ["-sSi", "--max-time", "20", url] + fields.flatMap { ["-H", $0] }
        let run = try await Subprocess.run(
            .name("curl"),
            arguments: Arguments(arguments),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 16)
        )
        try #require(run.terminationStatus == .exited(0), "\(run.standardError)")
        let text = run.standardOutput
        let end = try #require(text.firstRange(of: "\r\n\r\n"))
        return (String(text[..<end.lowerBound]), String(text[end.upperBound...]))
    }

    @Test func `sends clients of the protocol what changed, and everybody else the page`() async throws {
        try await serving { url in
            let page = SplitPage(Array("<hr><!--sonicdiff-n--><b>1</b><!--sonicdiff-n-end-->".utf8))
            let plain = try await get("\(url)/live/1")
            #expect(plain.body == String(decoding: page.page, as: UTF8.self))
            #expect(!plain.head.lowercased().contains("template-tag:"))
            let first = try await get("\(url)/live/1", "accept-diff: true")
            #expect(first.body == plain.body)
            #expect(first.head.contains("template-tag: \(page.templateTag.hex)"))
            let tags = ["If-None-Match: \(page.pageTag.hex)", "template-tag: \(page.templateTag.hex)"]
            let same = try await get("\(url)/live/1", "accept-diff: true", tags[0], tags[1])
            #expect(same.head.hasPrefix("HTTP/1.1 304") && same.body.isEmpty, "\(same)")
            let data = try await get("\(url)/live/2", "accept-diff: true", tags[0], tags[1])
            let made = try #require(try DataUpdate(Array(data.body.utf8)).data.page(of: page.template))
            #expect(
                String(decoding: made, as: UTF8.self)
                    == "<hr><!--sonicdiff-n--><b>2</b><!--sonicdiff-n-end-->"
            )
        }
    }

    @Test func `lets pass what is no page, and a page that is written while it comes`() async throws {
        try await serving { url in
            let data = try await get("\(url)/data", "accept-diff: true")
            #expect(data.body == "{}" && !data.head.lowercased().contains("vary"), "\(data)")
            let written = try await get("\(url)/written", "accept-diff: true")
            #expect(written.body == "<!--sonicdiff-n-->1<!--sonicdiff-n-end-->")
            #expect(!written.head.lowercased().contains("template-tag:"))
        }
    }
}
