import PatchCompression
import PatchFormat
import PatchCrypto

/// A content that is too large for memory and is passed on in pieces.
final class LargeContent {
    let row: Int
    private let size: Int
    /// Bytes of its frame that have not arrived yet.
    private var left: Int
    private var hasBegun = false
    private var decompressor: Decompressor
    private var digester: Digester? = Digester()

    init(_ row: Int, size: Int, length: Int, group: Int) throws(PackError) {
        (self.row, self.size, left) = (row, size, length)
        do throws(CompressionError) {
            decompressor = try Decompressor(.zstandard, limit: size, isOneFrame: true)
        } catch { throw .compression(.group(group), error) }
    }

    /// Returns the next piece, or nil if more of the frame is needed or the frame has ended.
    func next(_ input: inout PackInput, group: Int) throws(PackError) -> [UInt8]? {
        do throws(CompressionError) {
            guard try begin(input) else { return nil }
            while true {
                if let piece = try decompressor.next() {
                    digester?.update(piece)
                    return piece
                }
                let bytes = input.takeAtMost(min(left, Decompressor.piece))
                if bytes.isEmpty { break }
                left -= bytes.count
                decompressor.feed(bytes)
            }
            guard left == 0 else { return nil }
            try decompressor.finish()
            guard decompressor.produced == size else { throw CompressionError.incomplete(.zstandard) }
            return nil
        } catch { throw .compression(.group(group), error) }
    }

    /// Whether the frame's header has arrived.
    ///
    /// Throws if its content size or its window is not allowed.
    private func begin(_ input: PackInput) throws(CompressionError) -> Bool {
        if hasBegun { return true }
        guard let beginning = input.first(min(left, ZstandardFrame.headerBytes)) else { return false }
        try ZstandardFrame.check(beginning, size: size, windowLog: PackLimits.passingWindowLog)
        hasBegun = true
        return true
    }

    /// The fingerprint of all pieces, or nil before the last.
    ///
    /// Call it only once after the last piece.
    func fingerprint() -> Fingerprint? {
        guard left == 0, let digester = digester.take() else { return nil }
        return digester.finish()
    }
}
