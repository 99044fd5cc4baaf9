import PatchCompression
import PatchFormat
import Testing

@Suite("A zstd frame with a raw prefix")
struct ZstandardPatchTests {
    private static let old = Array((0..<4_000).map { "line \($0 &* 7_919 % 10_007) of a bundle\n" }.joined().utf8)
    private static let new = old[..<30_000] + Array("one line more\n".utf8) + old[30_000...]

    @Test(arguments: [[], [7], Array(new)], [[], old])
    func `gives back its content with its prefix`(_ content: [UInt8], _ prefix: [UInt8]) throws {
        for level in [19, 22] {
            let frame = try ZstandardPatch.frame(of: content, prefix: prefix, level: level)
            #expect(ZstandardFrame(frame)?.contentSize == content.count)
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
        // The byte behind the descriptor is the window: 2^25, an eighth more, and as much as there may be.
        func wide(_ window: UInt8) -> [UInt8] {
            [0x28, 0xB5, 0x2F, 0xFD, 0x80, window, 3, 0, 0, 0, 0x19, 0, 0, 1, 2, 3]
        }
        #expect(try ZstandardPatch.content(of: wide(0x78), prefix: [], size: 3) == [1, 2, 3])
        refused(wide(0x79), 3, "its window has 37748736 bytes; the limit is 2^25")
        refused(wide(0xFF), 3, "its window has 4123168604160 bytes; the limit is 2^25")
        refused(frame, 4, "it declares 3 bytes instead of 4")
        refused(frame + [0], 3, "bytes follow its end")
        refused(frame + frame, 3, "bytes follow its end")
        refused(Array(frame.dropLast()), 3, "Src size is incorrect")
        refused([], 0, "it does not begin with a frame that declares its size")
        // A frame to be skipped, and one that does not name its size.
        refused([0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0], 0, "it does not begin with a frame that declares its size")
        refused([0x28, 0xB5, 0x2F, 0xFD, 0, 0x58, 1, 0, 0], 0, "it does not begin with a frame that declares its size")
    }

    @Test(arguments: [0, 1, 255, 256, 65_791, 65_792, 70_000])
    func `says the size of its content and of its window first`(_ size: Int) throws {
        let frame = try ZstandardPatch.frame(of: [UInt8](repeating: 1, count: size), prefix: [], level: 19)
        let said = try #require(ZstandardFrame(Array(frame.prefix(ZstandardFrame.headerBytes))))
        #expect(said.contentSize == size && said.window == size)
        // Less of it says nothing.
        for count in 0..<6 { #expect(ZstandardFrame(Array(frame.prefix(count))) == nil) }
        var dictionary = frame
        dictionary[4] |= 1
        #expect(ZstandardFrame(dictionary) == nil)
    }
}
