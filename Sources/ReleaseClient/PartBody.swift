import NIOCore
import PatchFetch
import PatchFormat
import PatchStore
import SystemPackage

/// The bytes of one part from an offset on, read as they are sent.
struct PartBody: AsyncSequence, Sendable {
    enum Source: Sendable {
        case bytes([UInt8])
        case file(FilePath)
    }

    typealias Element = ByteBuffer

    private static let piece = 131_072

    let name: String
    let source: Source
    /// In bytes, of the whole part.
    let size: Int
    let offset: Int
    let files: any FileOperations
    /// Told of bytes that were handed over.
    let observe: @Sendable (Int) -> Void

    var length: Int { size - offset }

    func makeAsyncIterator() -> Iterator { Iterator(self) }

    struct Iterator: AsyncIteratorProtocol {
        private let part: PartBody
        private var reader: (any FileReader)?
        /// Bytes of the part that were read.
        private var position = 0

        init(_ part: PartBody) {
            self.part = part
        }

        mutating func next() async throws -> ByteBuffer? {
            while let piece = try read() {
                position += piece.count
                guard position <= part.size else { throw ServiceError.changed(part.name) }
                let kept = piece.suffix(Swift.min(piece.count, Swift.max(0, position - part.offset)))
                if kept.isEmpty { continue }
                part.observe(kept.count)
                return ByteBuffer(bytes: kept)
            }
            guard position == part.size else { throw ServiceError.changed(part.name) }
            return nil
        }

        private mutating func read() throws -> ArraySlice<UInt8>? {
            switch part.source {
            case .bytes(let bytes):
                guard position < bytes.count else { return nil }
                return bytes[position..<Swift.min(bytes.count, position + PartBody.piece)]
            case .file(let path):
                do throws(FileError) {
                    if reader == nil { reader = try part.files.open(path, limit: Limits.object) }
                    return try reader?.next()?[...]
                } catch { throw ServiceError.file(error) }
            }
        }
    }
}
