import PatchFormat

/// The header of a zstd frame (RFC 8878, 3.1.1.1).
package struct ZstandardFrame: Equatable, Sendable {
    /// The largest size of the header in bytes.
    package static let headerBytes = 18
    package static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    package let contentSize: Int
    package let window: Int

    /// - Parameter beginning: at least the header of the frame. Bytes after it are ignored.
    /// - Returns: nil if the frame does not declare its content size, needs a dictionary, or is not valid.
    package init?(_ beginning: [UInt8]) {
        guard beginning.starts(with: Self.magic), beginning.count > 5 else { return nil }
        let (descriptor, second) = (beginning[4], beginning[5])
        let isSingleSegment = descriptor & 0x20 != 0
        // A reserved bit, and the size of a dictionary's id.
        guard descriptor & 0x0B == 0 else { return nil }
        let width = [isSingleSegment ? 1 : 0, 2, 4, 8][Int(descriptor >> 6)]
        let place = isSingleSegment ? 5 : 6
        guard width > 0, beginning.count >= place + width else { return nil }
        let number = beginning[place..<place + width].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let size = Int(exactly: number) else { return nil }
        contentSize = width == 2 ? size + 256 : size
        let base = 1 << (10 + Int(second >> 3))
        window = isSingleSegment ? contentSize : base + base / 8 * Int(second & 7)
    }

    /// Rejects a frame whose header does not declare this size, or that needs a larger window.
    package static func check(_ beginning: [UInt8], size: Int, windowLog: Int) throws(CompressionError) {
        guard let frame = ZstandardFrame(beginning) else {
            throw .damaged(.zstandard, reason: "it does not begin with a frame that declares its size")
        }
        guard frame.contentSize == size else {
            throw .damaged(.zstandard, reason: "it declares \(frame.contentSize) bytes instead of \(size)")
        }
        guard frame.window <= 1 << windowLog else {
            throw .damaged(.zstandard, reason: "its window has \(frame.window) bytes; the limit is 2^\(windowLog)")
        }
    }
}
