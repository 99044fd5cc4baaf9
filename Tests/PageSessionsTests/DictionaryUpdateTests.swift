import HTTPFiles
import NIOCore
import NIOHTTP1
import PageDiff
import PatchCompression
import PatchFormat
import PatchCrypto
import Testing

@Suite("What changed of a live page, compressed against it", .timeLimit(.minutes(10)))
struct DictionaryUpdateTests {
    private static let second = SplitPage(Array(Pages.cart(2).utf8))

    /// The second page's data, compressed against some page.
    private static func update(against page: [UInt8], offered: [UInt8]) throws -> FileAnswer {
        let data = try #require(second.data)
        let update = DataUpdate(data: data, pageTag: second.pageTag, templateTag: second.templateTag)
        let packed = try DictionaryCompressed.bytes(
            of: update.bytes,
            dictionary: page,
            named: SHA256Digest(of: offered),
            level: 5
        )
        let fields: HTTPHeaders = [
            "Content-Type": "application/json", "Content-Encoding": "dcz", "ETag": second.pageTag.hex,
            "template-tag": second.templateTag.hex, "template-change": "false", "Cache-Offline": "true",
        ]
        return .stream(
            ServedStream(headers: fields, length: packed.count) { write in try await write(ByteBuffer(bytes: packed)) }
        )
    }

    @Test func `is asked for with the name of the page that is kept, and taken`() async throws {
        let first = Array(Pages.cart(1).utf8)
        let packed = try Self.update(against: first, offered: first)
        try await PageFixture.running { device in
            try await device.visit()
            device.server.answer { _ in packed }
            let pageResult = try await device.visit().pageResult
            #expect(pageResult["code"]?.number == 200)
            let asked = try #require(device.server.last?.headers)
            #expect(asked["Accept-Encoding"] == ["dcz, zstd, gzip"])
            #expect(asked["Available-Dictionary"] == [":\(Base64.text(SHA256Digest(of: first).bytes)):"])
            #expect(device.kept() == [Pages.cart(2)])
        }
    }

    private static let other = Array(Pages.cart(7, template: "other").utf8)

    @Test func `that names another page than was offered is no answer, and what is kept stays`() async throws {
        let packed = try Self.update(against: Self.other, offered: Self.other)
        try await PageFixture.running { device in
            try await device.visit()
            device.server.answer { _ in packed }
            let (got, pageResult) = try await device.visit()
            #expect(got.text == Pages.cart(1) && pageResult["code"]?.number == 504)
            #expect(device.kept() == [Pages.cart(1)])
        }
    }

    @Test func `that was made against another page than it names is none, and what is kept goes`() async throws {
        let packed = try Self.update(against: Self.other, offered: Array(Pages.cart(1).utf8))
        try await PageFixture.running { device in
            try await device.visit()
            device.server.answer { _ in packed }
            let (got, pageResult) = try await device.visit()
            #expect(got.text == Pages.cart(1) && pageResult["code"]?.number == 2_000)
            #expect(device.kept() == [])
        }
    }
}
