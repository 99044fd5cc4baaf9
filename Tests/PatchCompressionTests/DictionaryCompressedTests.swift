import FoundationEssentials
import PatchCompression
import PatchFormat
import Subprocess
import Testing

@Suite("The content coding dcz")
struct DictionaryCompressedTests {
    private let dictionary =
        Array(String(repeating: "The page as it was. ", count: 200).utf8)
        + (0..<5_000).map {
            UInt8(truncatingIfNeeded: $0 &* $0 &* 31)
        }
    private var content: [UInt8] { Array("New. ".utf8) + dictionary }
    private let digest = SHA256Digest(bytes: (0..<32).map { UInt8($0) })

    @Test func `names its dictionary by SHA-256 before a frame against it, and is read with it`() throws {
        let digest = try #require(digest)
        let bytes = try DictionaryCompressed.bytes(of: content, dictionary: dictionary, named: digest, level: 5)
        #expect(bytes.prefix(8) == [0x5E, 0x2A, 0x4D, 0x18, 0x20, 0, 0, 0])
        #expect(Array(bytes[8..<40]) == digest.bytes)
        #expect(bytes.count < 100)
        let read = try DictionaryCompressed.content(of: bytes, dictionary: dictionary, named: digest, limit: 1_000_000)
        #expect(read == content)
    }

    @Test func `is what the zstd command reads`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "dcz-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let digest = try #require(digest)
        let bytes = try DictionaryCompressed.bytes(of: content, dictionary: dictionary, named: digest, level: 5)
        try Data(bytes).write(to: folder.appending(path: "page.zst"))
        try Data(dictionary).write(to: folder.appending(path: "dictionary"))
        let run = try await Subprocess.run(
            .name("zstd"),
            arguments: [
                "-q", "-d", "-D", folder.appending(path: "dictionary").path, folder.appending(path: "page.zst").path,
                "-o",
                folder.appending(path: "page").path,
            ],
            output: .discarded,
            error: .string(limit: 65_536)
        )
        try #require(run.terminationStatus == .exited(0), "\(run.standardError)")
        #expect(Array(try Data(contentsOf: folder.appending(path: "page"))) == content)
    }

    @Test func `against another dictionary than was offered is refused, and so is more than the limit`() throws {
        let digest = try #require(digest)
        let other = try #require(SHA256Digest(bytes: [UInt8](repeating: 7, count: 32)))
        let bytes = try DictionaryCompressed.bytes(of: content, dictionary: dictionary, named: digest, level: 5)
        #expect(
            throws: CompressionError.damaged(
                .zstandard,
                reason: "it does not name the dictionary that was offered"
            )
        ) {
            try DictionaryCompressed.content(of: bytes, dictionary: dictionary, named: other, limit: 1_000_000)
        }
        #expect(throws: CompressionError.tooLong(.zstandard, limit: 100)) {
            try DictionaryCompressed.content(of: bytes, dictionary: dictionary, named: digest, limit: 100)
        }
    }

    @Test func `asks of its reader no more memory than every reader has`() throws {
        let digest = try #require(digest)
        let page = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        let bytes = try DictionaryCompressed.bytes(of: page, dictionary: page, named: digest, level: 3)
        let frame = try #require(ZstandardFrame(Array(bytes.dropFirst(40))))
        #expect(frame.window <= 8_388_608)
    }
}
