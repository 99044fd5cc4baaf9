import PatchCompression
import PatchFormat
import Subprocess
import Testing

@Suite("A compressed stream")
struct CompressionTests {
    /// Lines that compress well, and differ.
    private static let text = Array((0..<20_000).map { "line \($0) of a bundle\n" }.joined().utf8)
    /// Bytes that do not compress: a linear congruence's high bits.
    private static let noise: [UInt8] = {
        var state: UInt64 = 1
        return (0..<50_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }()

    /// All that comes out of a stream that goes in in parts of this size.
    private func decoded(
        _ stream: [UInt8],
        _ format: CompressionFormat,
        limit: Int,
        parts: Int
    ) throws(CompressionError) -> [UInt8] {
        var decompressor = try Decompressor(format, limit: limit)
        var (rest, output) = (stream[...], [UInt8]())
        while !rest.isEmpty {
            decompressor.feed(Array(rest.prefix(parts)))
            rest = rest.dropFirst(parts)
            while let piece = try decompressor.next() {
                #expect(piece.count <= Decompressor.piece)
                output += piece
            }
        }
        try decompressor.finish()
        return output
    }

    @Test(arguments: CompressionFormat.allCases)
    func `gives back what went in, however its parts are cut`(_ format: CompressionFormat) throws {
        for plain in [[], [7], Self.text, Self.noise] {
            for effort in Compressor.Effort.allCases {
                let stream = try format.compressed(plain, effort: effort)
                for parts in [1, 1_000, stream.count + 1] where parts > 1 || stream.count < 10_000 {
                    #expect(try decoded(stream, format, limit: plain.count, parts: parts) == plain)
                }
            }
        }
        #expect(try format.compressed(Self.text).count < Self.text.count / 5)
    }

    @Test(arguments: CompressionFormat.allCases)
    func `gives no byte more than it may, and says so`(_ format: CompressionFormat) throws {
        let bomb = try format.compressed([UInt8](repeating: 0, count: 50_000_000))
        var decompressor = try Decompressor(format, limit: 300_000)
        decompressor.feed(bomb)
        var produced = 0
        do throws(CompressionError) {
            while let piece = try decompressor.next() { produced += piece.count }
            Issue.record("all of it came")
        } catch { #expect(error == .tooLong(format.codec, limit: 300_000)) }
        #expect(produced <= 300_000)
        let exact = try format.compressed(Self.text)
        #expect(throws: CompressionError.tooLong(format.codec, limit: Self.text.count - 1)) {
            try format.decompressed(exact, limit: Self.text.count - 1)
        }
    }

    @Test(arguments: CompressionFormat.allCases)
    func `that ends early is not taken for a whole one`(_ format: CompressionFormat) throws {
        let stream = try format.compressed(Self.text)
        for count in [0, 1, 10, stream.count / 2, stream.count - 1] {
            #expect(throws: CompressionError.incomplete(format.codec)) {
                try format.decompressed(Array(stream.prefix(count)), limit: Self.text.count)
            }
        }
    }

    @Test(arguments: CompressionFormat.allCases)
    func `that was damaged is refused wherever the damage is`(_ format: CompressionFormat) throws {
        let stream = try format.compressed(Array(Self.text.prefix(3_000)))
        for place in stride(from: 0, to: stream.count, by: 7) {
            var damaged = stream
            damaged[place] ^= 0x55
            do throws(CompressionError) {
                // Bytes of a head that nobody needs may change: then the same comes out.
                #expect(try format.decompressed(damaged, limit: 3_000) == Array(Self.text.prefix(3_000)))
                #expect(format == .gzip && place < 10, "\(place)")
            } catch {
                switch error {
                case .damaged(format.codec, _), .incomplete(format.codec), .tooLong(format.codec, _): break
                default: Issue.record("\(error)")
                }
            }
        }
    }

    @Test func `that is refused says why`() {
        #expect(
            [
                .damaged(.zstandard, reason: "Unknown frame descriptor"), .tooLong(.gzip, limit: 1_000),
                .incomplete(.zstandard), .noMemory(.gzip),
            ].map { (error: CompressionError) in "\(error)" } == [
                "not zstd: Unknown frame descriptor", "the gzip stream expands to more than 1000 bytes",
                "the zstd stream ends early", "no memory for gzip",
            ]
        )
    }

    @Test func `of gzip has nothing behind its end, and one of zstd may have another frame`() throws {
        let part = Array("half".utf8)
        let gzip = try CompressionFormat.gzip.compressed(part)
        #expect(throws: CompressionError.damaged(.gzip, reason: "bytes follow its end")) {
            try CompressionFormat.gzip.decompressed(gzip + gzip, limit: 8)
        }
        let zstandard = try CompressionFormat.zstandard.compressed(part)
        #expect(try CompressionFormat.zstandard.decompressed(zstandard + zstandard, limit: 8) == part + part)
    }

    @Test func `whose window is larger than HTTP's clients have is refused before it takes memory`() async throws {
        let large = try await run("zstd", ["--ultra", "-20", "--long=27", "-c"], Self.text)
        // The tool writes the window into a frame whose size it does not know.
        #expect(throws: CompressionError.damaged(.zstandard, reason: "Frame requires too much memory for decoding")) {
            try CompressionFormat.zstandard.decompressed(large, limit: Self.text.count)
        }
    }

    @Test(arguments: [(CompressionFormat.zstandard, "zstd"), (.gzip, "gzip")])
    func `is read by the format's own tool, and the tool's by us`(
        _ format: CompressionFormat,
        _ tool: String
    ) async throws {
        #expect(try await run(tool, ["-dc"], try format.compressed(Self.text)) == Self.text)
        let theirs = try await run(tool, ["-9", "-c"], Self.text)
        #expect(try format.decompressed(theirs, limit: Self.text.count) == Self.text)
    }

    private func run(_ tool: String, _ arguments: [String], _ input: [UInt8]) async throws -> [UInt8] {
        let result = try await Subprocess.run(
            .name(tool),
            arguments: Arguments(arguments),
            input: .array(input),
            output: .bytes(limit: 4 << 20),
            error: .discarded
        )
        #expect(result.terminationStatus == .exited(0))
        return result.standardOutput
    }
}
