import PatchCompression
import Subprocess
import Testing

@Suite("Deflate without a wrapping")
struct BareDeflateTests {
    private static let text = Array((0..<20_000).map { "line \($0) of a bundle\n" }.joined().utf8)

    @Test func `gives back what went in, and is what Python's zlib reads`() async throws {
        for bytes in [[], Array("x".utf8), Self.text] {
            let packed = try BareDeflate.compressed(bytes)
            #expect(try BareDeflate.decompressed(packed, limit: bytes.count) == bytes)
            let result = try await Subprocess.run(
                .name("python3"),
                arguments: [
                    "-c", "import sys, zlib; sys.stdout.buffer.write(zlib.decompress(sys.stdin.buffer.read(), -15))",
                ],
                input: .array(packed),
                output: .bytes(limit: 4 << 20),
                error: .discarded
            )
            #expect(result.terminationStatus == .exited(0) && result.standardOutput == bytes)
        }
        #expect(try BareDeflate.compressed(Self.text).count < Self.text.count / 3)
    }

    @Test func `gives out no more than it may, and ends with its bytes`() throws {
        let packed = try BareDeflate.compressed(Self.text)
        let limit = Self.text.count - 1
        #expect(throws: CompressionError.tooLong(.deflate, limit: limit)) {
            try BareDeflate.decompressed(packed, limit: limit)
        }
        #expect(throws: CompressionError.tooLong(.deflate, limit: 0)) { try BareDeflate.decompressed(packed, limit: 0) }
        for bytes in [[], Array(packed.dropLast()), Array(packed.prefix(100))] {
            #expect(throws: CompressionError.incomplete(.deflate)) {
                try BareDeflate.decompressed(bytes, limit: Self.text.count)
            }
        }
        #expect(throws: CompressionError.damaged(.deflate, reason: "bytes follow its end")) {
            try BareDeflate.decompressed(packed + [0], limit: Self.text.count)
        }
        #expect(throws: CompressionError.damaged(.deflate, reason: "invalid block type")) {
            try BareDeflate.decompressed([0xFF], limit: 1)
        }
    }

    @Test func `has the checksum that the standard's own example has`() {
        #expect(CRC32.of(Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(CRC32.of([]) == 0)
    }
}
