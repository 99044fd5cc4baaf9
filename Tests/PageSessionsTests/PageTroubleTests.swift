import APIProxy
import AsyncHTTPClient
import HTTPFiles
import HTTPTesting
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import PageDiff
import PatchCompression
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import SystemPackage
import Testing

@testable import PageSessions

@Suite("A live page whose server is wrong", .timeLimit(.minutes(10)))
struct PageTroubleTests {
    private static let other = SHA1Digest(of: [1]).hex

    /// What the server says in place of the truth, once.
    private static func lying(
        _ change: @escaping @Sendable (inout HTTPHeaders, inout String) -> Void,
        _ device: PageFixture
    ) {
        let lies = NIOLockedValueBox(1)
        device.server.answer { [server = device.server] request in
            guard
                lies.withLockedValue({ left in
                    defer { left = max(0, left - 1) }
                    return left > 0
                })
            else { return server.inProtocol(request) }
            guard case .stream(let stream) = server.inProtocol(request) else { return .notFound }
            var (fields, body) = (stream.headers, "")
            let sent = NIOLockedValueBox("")
            try? await stream.send { piece in sent.withLockedValue { $0 += String(buffer: piece) } }
            body = sent.withLockedValue(\.self)
            change(&fields, &body)
            return .page(body, fields, stream.status)
        }
    }

    @Test(arguments: ["page tag", "template tag", "data", "no JSON", "cut JSON", "data's page tag"])
    func `is asked for once more as a whole, and loaded again, when what it says does not fit together`(lie: String)
        async throws
    {
        try await PageFixture.running { device in
            try await device.visit()
            device.server.show(Pages.cart(2))
            Self.lying(
                { fields, body in
                    switch lie {
                    case "page tag": fields.replaceOrAdd(name: "ETag", value: Self.other)
                    case "template tag": fields.replaceOrAdd(name: "template-tag", value: Self.other)
                    case "data": body = body.replacing("<b>2", with: "<b>3")
                    case "no JSON": body = "<html>"
                    case "cut JSON": body = String(body.dropLast(9))
                    default: body = body.replacing(SplitPage(Array(Pages.cart(2).utf8)).pageTag.hex, with: Self.other)
                    }
                },
                device
            )
            let (got, pageResult) = try await device.visit()
            #expect(got.text == Pages.cart(1))
            #expect(pageResult["code"]?.number == 2_000 && pageResult["extra"]?["isReload"]?.flag == true)
            #expect(device.server.requests.count == 3)
            #expect(device.server.last?.headers["accept-diff"] == ["true"])
            #expect(device.server.last?.headers["If-None-Match"] == [])
            let next = try await device.visit()
            #expect(next.got.text == Pages.cart(2) && next.pageResult["code"]?.number == 304)
            #expect(device.kept() == [Pages.cart(2)])
        }
    }

    @Test func `is not kept when it lies again`() async throws {
        try await PageFixture.running { device in
            try await device.visit()
            device.server.answer { [server = device.server] request in
                guard case .stream(var stream) = server.inProtocol(request) else { return .notFound }
                stream.headers.replaceOrAdd(name: "ETag", value: Self.other)
                stream.headers.replaceOrAdd(name: "template-change", value: "true")
                return .stream(stream)
            }
            device.server.show(Pages.cart(2, template: "x"))
            let (_, pageResult) = try await device.visit()
            #expect(pageResult["code"]?.number == 2_000 && pageResult["extra"]?["isReload"]?.flag == true)
            #expect(device.server.requests.count == 3)
            let next = try await device.visit()
            #expect(next.got.text == Pages.cart(2, template: "x"))
            #expect(next.pageResult["extra"]?["isReload"]?.flag == false)
            #expect(device.names() == [])
        }
    }

    @Test(arguments: [HTTPResponseStatus.notModified, .ok])
    func `is asked for as a browser does it when its first answer is no page`(status: HTTPResponseStatus) async throws {
        try await PageFixture.running { device in
            device.server.answer { [server = device.server] request in
                guard request.headers.contains(name: "accept-diff") else { return server.inProtocol(request) }
                return .page(
                    status == .ok ? "{\"data\":{}}" : "",
                    [
                        "Cache-Offline": "true", "ETag": Self.other, "template-tag": Self.other,
                        "template-change": "false",
                    ],
                    status
                )
            }
            let got = try await device.get()
            #expect(got.status == 200 && got.text == Pages.cart(1) && got.visit == nil)
            #expect(device.names() == [])
        }
    }

    @Test(arguments: [
        (HTTPResponseStatus.internalServerError, 500, false, [Pages.cart(1)]), (.notFound, 2_000, true, []),
        (.found, 2_000, true, []), (.unauthorized, 2_000, true, []), (.ok, 2_000, true, []),
    ])
    func `stays as it is kept while its server fails, and goes when the server has another answer`(
        status: HTTPResponseStatus,
        code: Int,
        isReload: Bool,
        kept: [String]
    ) async throws {
        try await PageFixture.running { device in
            try await device.visit()
            device.server.answer { _ in .page("other", ["Location": "/login"], status) }
            let (got, pageResult) = try await device.visit()
            #expect(got.status == 200 && got.text == Pages.cart(1))
            #expect(pageResult["code"]?.number == code && pageResult["srcCode"]?.number == Int(status.code))
            #expect(pageResult["extra"]?["isReload"]?.flag == isReload)
            #expect(device.kept() == kept)
        }
    }

    @Test func `is shown while its server cannot be reached, and told so: 502`() async throws {
        let (server, files) = (PageServer(), FaultyFiles())
        try await serving(server) { upstream in
            try await PageFixture.running(server, at: upstream, files: files) { device in
                _ = try await device.visit()
            }
            // Nobody listens there.
            let nobody = ProxyRules([try ProxyRule(argument: "/.*=http://127.0.0.1:1")])
            try await PageFixture.running(server, at: upstream, files: files, proxy: { $0.rules = nobody }) { device in
                let (got, pageResult) = try await device.visit()
                #expect(got.text == Pages.cart(1))
                #expect(pageResult["code"]?.number == 502 && pageResult["srcCode"]?.number == 502)
                #expect(pageResult["extra"]?["isReload"]?.flag == false)
                #expect(device.kept() == [Pages.cart(1)])
            }
        }
    }

    @Test(arguments: [
        (HTTPResponseStatus.badGateway, 502), (.gatewayTimeout, 504), (.loopDetected, 508), (.notFound, 504),
    ])
    func `is told why the proxy has no answer of its server`(status: HTTPResponseStatus, code: Int) {
        let answered = PageAnswered.missing(.refused(status, message: "Why.", headers: [:]))
        #expect(answered.reply.status == code && !answered.reply.usesProtocol)
    }

    @Test func `is shown while its server breaks off, and told so: 504`() async throws {
        try await PageFixture.running { device in
            try await device.visit()
            device.server.answer { _ in
                .stream(
                    ServedStream(headers: ["Content-Type": "text/html"], length: 10) { write in
                        try await write(ByteBuffer(string: "<html>"))
                        throw ClientDisconnected()
                    }
                )
            }
            let (got, pageResult) = try await device.visit()
            #expect(got.text == Pages.cart(1))
            #expect(pageResult["code"]?.number == 504 && pageResult["extra"]?["isReload"]?.flag == false)
            #expect(device.kept() == [Pages.cart(1)])
        }
    }

    @Test func `is shown while its server hangs, and told so once its time is over`() async throws {
        let (asked, signal) = AsyncStream.makeStream(of: Never.self)
        try await PageFixture.running { device in
            try await device.visit()
            device.server.answer { _ in
                signal.finish()
                try? await Task.sleep(for: .seconds(3_600))
                return .notFound
            }
            let got = try await device.get()
            #expect(got.text == Pages.cart(1))
            for await _ in asked {}
            async let pageResult = device.pageResult(visit: got.visit)
            // The second one: the first visit had its answer.
            await device.sleeps.began(PageLimits.answerTime, times: 2)
            #expect(device.sleeps.end(PageLimits.answerTime))
            let text = try await pageResult.text
            #expect(text.hasPrefix("{\"code\":504,") && text.contains("\"isReload\":false"))
            #expect(device.kept() == [Pages.cart(1)])
        }
    }

    @Test func `is known after one call's time to be still asked for`() async throws {
        let (asked, signal) = AsyncStream.makeStream(of: Never.self)
        try await PageFixture.running { device in
            try await device.visit()
            device.server.answer { _ in
                signal.finish()
                try? await Task.sleep(for: .seconds(3_600))
                return .notFound
            }
            let got = try await device.get()
            for await _ in asked {}
            async let pageResult = device.pageResult(visit: got.visit)
            await device.sleeps.began(PageLimits.callTime, times: 2)
            device.sleeps.end(PageLimits.callTime)
            let answer = try await pageResult
            #expect(answer.status == 504)
            #expect(answer.text == "{\"error\":\"the page's server has not answered yet\"}")
            device.sleeps.end(PageLimits.answerTime)
        }
    }

    @Test func `is read through gzip, however it is cut into pieces, and kept as it is shown`() async throws {
        let html = Pages.cart(1)
        let page = SplitPage(Array(html.utf8))
        let packed = Gzip.stored(Array(html.utf8))
        try await PageFixture.running { device in
            device.server.answer { _ in
                .stream(
                    ServedStream(headers: [
                        "Content-Type": "text/html", "Content-Encoding": "gzip", "ETag": page.pageTag.hex,
                        "template-tag": page.templateTag.hex, "template-change": "true", "Cache-Offline": "true",
                    ]) { write in for byte in packed { try await write(ByteBuffer(bytes: [byte])) } }
                )
            }
            let got = try await device.get()
            #expect(got.text == html && got.headers["Content-Encoding"] == [])
            #expect(device.kept().contains(html))
        }
    }

    @Test func `with more fields than are kept is shown, and not kept`() async throws {
        try await PageFixture.running { device in
            try await device.visit()
            var fields = HTTPHeaders((1...70).map { ("Link", "</\($0)>; rel=preload") })
            fields.add(name: "X-Frame-Options", value: "DENY")
            device.server.add(fields)
            device.server.show(Pages.cart(1, template: "new"))
            let (got, pageResult) = try await device.visit()
            #expect(got.text == Pages.cart(1) && pageResult["code"]?.number == 2_000)
            await device.live.written()
            #expect(device.names() == [])
        }
    }

    /// A few bytes may hold gigabytes.
    @Test func `is let go where it is too large, before the rest of it is unpacked`() async throws {
        var packed = try CompressionFormat.zstandard.compressed([UInt8](repeating: 0, count: 20_000_000))
        #expect(packed.count < 10_000)
        // Whoever unpacks all of it finds this.
        for place in packed.indices.suffix(8) { packed[place] = 0xFF }
        let decoder = try PageDecoder(.compressed(.zstandard))
        await #expect(throws: ClientDisconnected.self) {
            try await decoder.append(ByteBuffer(bytes: packed), to: PageFlow())
        }
    }

    @Test func `keeps all lines of a field that an update names anew, and the others as they are`() {
        let kept: HTTPHeaders = [
            "Content-Type": "text/html", "Content-Security-Policy": "a", "X-Frame-Options": "DENY",
        ]
        var update: HTTPHeaders = ["Content-Type": "application/json"]
        for policy in ["b", "c"] { update.add(name: "content-security-policy", value: policy) }
        let fields = kept.updated(by: update)
        #expect(fields["Content-Security-Policy"] == ["b", "c"])
        #expect(fields["X-Frame-Options"] == ["DENY"] && fields["Content-Type"] == ["text/html"])
    }

    @Test func `passes as it is in a coding that is not read here`() async throws {
        let page = SplitPage(Array(Pages.cart(1).utf8))
        try await PageFixture.running { device in
            device.server.answer { _ in
                .page(
                    "packed",
                    [
                        "Content-Type": "text/html", "Content-Encoding": "br", "ETag": page.pageTag.hex,
                        "template-tag": page.templateTag.hex, "template-change": "true", "Cache-Offline": "true",
                    ]
                )
            }
            let got = try await device.get()
            #expect(got.text == "packed" && got.headers["Content-Encoding"] == ["br"] && device.names() == [])
        }
    }

    @Test func `ends where its server ends it, and is not kept`() async throws {
        try await PageFixture.running { device in
            device.server.answer { [server = device.server] request in
                guard case .stream(let stream) = server.inProtocol(request) else { return .notFound }
                return .stream(
                    ServedStream(headers: stream.headers, length: 100) { write in
                        try await write(ByteBuffer(string: "<html>"))
                        throw ClientDisconnected()
                    }
                )
            }
            await #expect(throws: (any Error).self) { try await device.get() }
            #expect(device.names() == [])
        }
    }

    @Test func `that does not end is for its readers alone once its time is over, and is not kept`() async throws {
        let html = Pages.cart(1)
        let (hanging, go) = AsyncStream.makeStream(of: Never.self)
        try await PageFixture.running { device in
            device.server.answer { [server = device.server] request in
                guard case .stream(let stream) = server.inProtocol(request) else { return .notFound }
                return .stream(
                    ServedStream(headers: stream.headers, length: html.utf8.count) { write in
                        try await write(ByteBuffer(string: String(html.prefix(20))))
                        for await _ in hanging {}
                        try await write(ByteBuffer(string: String(html.dropFirst(20))))
                    }
                )
            }
            let first = try await device.open()
            var body = first.body.makeAsyncIterator()
            _ = try await body.next()
            await device.sleeps.began(PageLimits.answerTime)
            device.sleeps.end(PageLimits.answerTime)
            device.server.answer(nil)
            // Until that has come about, a visitor would wait for the page that hangs.
            let name = first.headers.first(name: "Server-Timing")?.split(separator: "\"").last.map(String.init)
            while try await device.pageResult(visit: name).status != 404 { await Task.yield() }
            let (second, pageResult) = try await device.visit()
            #expect(second.text == html && pageResult["code"]?.number == 1_000)
            go.finish()
            var rest = ""
            while let piece = try await body.next() { rest += String(buffer: piece) }
            #expect(rest == String(html.dropFirst(20)))
            #expect(device.server.requests.count == 2 && device.kept() == [html])
        }
    }

    @Test func `of more than five megabytes passes whole, and is not kept`() async throws {
        let large = Pages.cart(1) + String(repeating: "x", count: PageLimits.page)
        try await PageFixture.running { device in
            device.server.show(large)
            let got = try await device.get()
            #expect(got.text == large)
            let pageResult = try await device.pageResult(visit: got.visit)
            #expect(pageResult.status == 404 && device.names() == [])
        }
    }

    /// V10.
    @Test(arguments: ["page", "page gone", "record", "record gone"])
    func `is as if it had never been there when it is damaged on disk`(damage: String) async throws {
        let (server, files) = (PageServer(), FaultyFiles())
        try await PageFixture.running(server, files: files) { device in
            try await device.visit()
            // Others take its place in memory.
            for number in 1...3 {
                server.show(Pages.cart(number), at: "/\(number)")
                try await device.visit("/\(number)")
            }
            let id = PageSession(origin: "http://127.0.0.1:\(device.upstream)", path: "/live", query: nil, account: nil)
            let tag = SplitPage(Array(Pages.cart(1).utf8)).pageTag
            let page = PageFixture.folder.appending("\(id.id).\(tag).html")
            let record = PageFixture.folder.appending("\(id.id).json")
            switch damage {
            case "page": try files.overwrite(page, with: Array(Pages.cart(9).utf8))
            case "page gone": try files.remove(page)
            case "record": try files.overwrite(record, with: Array("{".utf8))
            default: try files.remove(record)
            }
            let (got, pageResult) = try await device.visit()
            #expect(got.text == Pages.cart(1) && pageResult["code"]?.number == 1_000)
            #expect(server.last?.headers["If-None-Match"] == [])
            #expect(device.kept().filter { $0 == Pages.cart(1) }.count == 2)
        }
    }
}

/// A gzip stream that stores its bytes (RFC 1951 §3.2.4).
enum Gzip {
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let size = UInt16(bytes.count)
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
        }
        let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1]
        let sizes = little(size) + little(~size)
        return head + sizes + bytes + little(~crc) + little(UInt32(bytes.count))
    }

    private static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<(Number.bitWidth / 8)).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
