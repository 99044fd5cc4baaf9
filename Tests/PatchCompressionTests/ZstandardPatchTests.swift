import PatchCompression
import PatchFormat
import Testing

@Suite("A zstd frame with a raw prefix")
struct ZstandardPatchTests {
    private static let old = Array((0..<4_000).map { "line \($0 &* 7_919 % 10_007) of a bundle\n" }.joined().utf8)
    private static let new = old[..<30_000] + Array("one line more\n".utf8) + old[30_000...]

    @Test(arguments: [[], [7], Array(new)], [[], old])
    func `gives back its content with its prefix`(_ content: [UInt8], _ prefix: [UInt8]) throws {
        for level in [ZstandardPatch.levels.lowerBound, ZstandardPatch.levels.upperBound] {
            let frame = try ZstandardPatch.frame(of: content, prefix: prefix, level: level)
            #expect(ZstandardPatch.contentSize(of: frame) == content.count)
            #expect(frame.count <= ZstandardPatch.bound(of: content.count))
            #expect(try ZstandardPatch.content(of: frame, prefix: prefix, size: content.count) == content)
        }
    }

    @Test func `is small where the content is like the prefix`() throws {
        #expect(try ZstandardPatch.frame(of: Array(Self.new), prefix: Self.old, level: 22).count < 60)
    }

    @Test func `never gives back its content with another prefix`() throws {
        let frame = try ZstandardPatch.frame(of: Array(Self.new), prefix: Self.old, level: 22)
        var changed = Self.old
        changed[50_000] ^= 1
        // It has no checksum: wrong bytes may come out.
        for prefix in [[], Array(Self.old.dropLast()), changed, Self.old.reversed()] {
            let found = try? ZstandardPatch.content(of: frame, prefix: prefix, size: Self.new.count)
            #expect(found != Array(Self.new))
        }
    }

    @Test func `is refused where it is not one frame of the size that was asked for`() throws {
        let frame = try ZstandardPatch.frame(of: [1, 2, 3], prefix: [], level: 19)
        func refused(_ frame: [UInt8], _ size: Int, _ reason: String) {
            #expect(throws: CompressionError.damaged(.zstandard, reason: reason)) {
                try ZstandardPatch.content(of: frame, prefix: [], size: size)
            }
        }
        refused(frame, 4, "it names 3 bytes instead of 4")
        refused(frame + [0], 3, "bytes follow its end")
        refused(frame + frame, 3, "bytes follow its end")
        refused(Array(frame.dropLast()), 3, "Src size is incorrect")
        refused([], 0, "it does not begin as a frame that names its size")
        // A frame to be skipped, and one that does not name its size.
        refused([0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0], 0, "it does not begin as a frame that names its size")
        refused([0x28, 0xB5, 0x2F, 0xFD, 0, 0x58, 1, 0, 0], 0, "it does not begin as a frame that names its size")
    }
}
