import NIOCore
import PatchCompression
import PatchFetch
import PatchFormat
import PatchStore
import SystemPackage

/// The bytes of one part from an offset on, read while they are sent.
struct PartBody: AsyncSequence, Sendable {
    enum Source: Sendable {
        case bytes([UInt8])
        case file(FilePath)
    }

    typealias Element = ByteBuffer

    private static let piece = 131_072

    let name: String
    let source: Source
    /// The size of the whole part, in bytes.
    let size: Int
    let offset: Int
    /// The compression during the transfer; nil for none.
    let coding: CompressionFormat?
    let files: any FileOperations
    /// Receives the number of the part's bytes that were handed to the network, and their size during the transfer.
    let observe: @Sendable (_ bytes: Int, _ travelling: Int) -> Void

    /// The number of the part's remaining bytes.
    var rest: Int { size - offset }
    /// The size of the transfer; nil if it is known only at the end.
    var length: Int? { coding == nil ? rest : nil }

    func makeAsyncIterator() -> Iterator { Iterator(self) }

    struct Iterator: AsyncIteratorProtocol {
        private let part: PartBody
        private var reader: (any FileReader)?
        /// The number of bytes read from the part.
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

/// The compressed form, made while the part is read.
private final class Form {
    /// Nil after the end.
    private var compressor: Compressor?

    init(_ format: CompressionFormat, size: Int) throws(CompressionError) {
        compressor = try Compressor(format, size: size, effort: .thorough)
    }

    func compress(_ bytes: [UInt8]) throws(CompressionError) -> [UInt8] {
        try compressor?.compress(bytes) ?? []
    }

    /// Returns the end of the compressed form, once.
    func finish() throws(CompressionError) -> [UInt8]? {
        guard let open = compressor.take() else { return nil }
        return try open.finish()
    }
}
