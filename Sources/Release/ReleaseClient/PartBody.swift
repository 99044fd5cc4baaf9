import NIOCore
import PatchCompression
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
    /// What it is compressed by on its way; nil for as it is.
    let coding: CompressionFormat?
    let files: any FileOperations
    /// Told of the part's bytes that were handed over, and as how many they travel.
    let observe: @Sendable (_ bytes: Int, _ travelling: Int) -> Void

    /// Of the part, in bytes.
    var rest: Int { size - offset }
    /// Of what travels; nil where that shows at its end.
    var length: Int? { coding == nil ? rest : nil }

    func makeAsyncIterator() -> Iterator { Iterator(self) }

    struct Iterator: AsyncIteratorProtocol {
        private let part: PartBody
        private var reader: (any FileReader)?
        /// Bytes of the part that were read.
        private var position = 0
        private var form: Form?

        init(_ part: PartBody) {
            self.part = part
        }

        mutating func next() async throws -> ByteBuffer? {
            if form == nil, let coding = part.coding { form = try Form(coding, size: part.rest) }
            while let piece = try read() {
                position += piece.count
                guard position <= part.size else { throw ServiceError.changed(part.name) }
                let kept = Array(piece.suffix(Swift.min(piece.count, Swift.max(0, position - part.offset))))
                if kept.isEmpty { continue }
                let bytes = try form?.compress(kept) ?? kept
                part.observe(kept.count, bytes.count)
                if !bytes.isEmpty { return ByteBuffer(bytes: bytes) }
            }
            guard position == part.size else { throw ServiceError.changed(part.name) }
            guard let end = try form?.finish() else { return nil }
            part.observe(0, end.count)
            return ByteBuffer(bytes: end)
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

/// The compressed form that is being made.
private final class Form {
    /// Nil after its end.
    private var compressor: Compressor?

    init(_ format: CompressionFormat, size: Int) throws(CompressionError) {
        compressor = try Compressor(format, size: size, effort: .thorough)
    }

    func compress(_ bytes: [UInt8]) throws(CompressionError) -> [UInt8] {
        try compressor?.compress(bytes) ?? []
    }

    /// The end of it, once.
    func finish() throws(CompressionError) -> [UInt8]? {
        guard let open = compressor.take() else { return nil }
        return try open.finish()
    }
}
