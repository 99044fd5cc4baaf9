import PatchCompression
import Testing

@Suite("An LZMA2 stream with a raw prefix")
struct LZMAPatchTests {
    private static let old = Array((0..<4_000).map { "line \($0 &* 7_919 % 10_007) of a bundle\n" }.joined().utf8)
    private static let new = Array(old[..<30_000] + Array("one line more\n".utf8) + old[30_000...])

    private func frame(of content: [UInt8], prefix: [UInt8] = []) throws -> [UInt8] {
        try #require(try LZMAPatch.frame(of: content, prefix: prefix, limit: content.count + 1_000))
    }

    @Test(arguments: [[], [7], Self.new], [[], Self.old])
    func `gives back its content with its prefix`(_ content: [UInt8], _ prefix: [UInt8]) throws {
        let frame = try frame(of: content, prefix: prefix)
        #expect(try LZMAPatch.content(of: frame, prefix: prefix, size: content.count) == content)
    }

    @Test func `is small where the content is like the prefix`() throws {
        #expect(try frame(of: Self.new, prefix: Self.old).count < 100)
    }

    @Test func `is not made where it would have more bytes than may be`() throws {
        let frame = try frame(of: Self.new, prefix: Self.old)
        #expect(try LZMAPatch.frame(of: Self.new, prefix: Self.old, limit: frame.count) == frame)
        #expect(try LZMAPatch.frame(of: Self.new, prefix: Self.old, limit: frame.count - 1) == nil)
        #expect(try LZMAPatch.frame(of: Self.new, prefix: Self.old, limit: 0) == nil)
    }

    @Test func `never gives back its content with another prefix`() throws {
        let frame = try frame(of: Self.new, prefix: Self.old)
        var changed = Self.old
        changed[50_000] ^= 1
        // It has no checksum: wrong bytes may come out.
        for prefix in [[], Array(Self.old.dropLast()), changed, Self.old.reversed()] {
            let found = try? LZMAPatch.content(of: frame, prefix: prefix, size: Self.new.count)
            #expect(found != Self.new)
        }
    }

    @Test func `is refused where other than its size comes out, or anything follows it`() throws {
        let frame = try frame(of: [1, 2, 3, 4])
        func refused(_ frame: [UInt8], _ size: Int, _ error: CompressionError) {
            #expect(throws: error) { try LZMAPatch.content(of: frame, prefix: [], size: size) }
        }
        refused(frame, 3, .tooLong(.lzma2, limit: 3))
        refused(frame, 0, .tooLong(.lzma2, limit: 0))
        refused(frame, 5, .incomplete(.lzma2))
        refused(frame + [0], 4, .damaged(.lzma2, reason: "bytes follow its end"))
        refused(Array(frame.dropLast()), 4, .damaged(.lzma2, reason: "it is truncated or malformed"))
        refused([], 4, .damaged(.lzma2, reason: "it is truncated or malformed"))
        refused([0x80, 0, 3, 0, 7], 4, .damaged(.lzma2, reason: "it is truncated or malformed"))
    }
}
