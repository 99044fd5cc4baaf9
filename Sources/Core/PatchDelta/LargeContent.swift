import PatchCompression
import PatchFormat
import PatchCrypto

/// A content that is too large to be held, on its way through.
final class LargeContent {
    let row: Int
    private let size: Int
    /// Bytes of its frame that did not come yet.
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

    /// The next piece; nil when more of the frame is needed, or it is at its end.
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

    /// Whether its frame's beginning came, and is that of a frame with this content and a window that may be.
    private func begin(_ input: PackInput) throws(CompressionError) -> Bool {
        if hasBegun { return true }
        guard let beginning = input.first(min(left, ZstandardFrame.headerBytes)) else { return false }
        try ZstandardFrame.check(beginning, size: size, windowLog: PackLimits.passingWindowLog)
        hasBegun = true
        return true
    }

    /// Of all pieces; nil before the last.
    ///
    /// Call once after that.
    func fingerprint() -> Fingerprint? {
        guard left == 0, let digester = digester.take() else { return nil }
        return digester.finish()
    }
}
