package import PatchCompression
package import PatchFormat

/// Decodes the bytes of an answer into the bytes of the file.
package struct BodyDecoder: ~Copyable {
    /// The coding of the body, or nil for a plain file.
    package let coding: CompressionFormat?
    private var decompressor: Decompressor?
    private var plain: [UInt8] = []
    /// Whether a compressed form was complete.
    ///
    /// Always true for a plain file, whose bytes the caller counts.
    package private(set) var isComplete: Bool

    /// - Parameter limit: The largest decoded size of a compressed form, in bytes.
    package init(_ coding: CompressionFormat?, limit: Int) throws(CompressionError) {
        self.coding = coding
        isComplete = coding == nil
        decompressor = if let coding { try Decompressor(coding, limit: limit) } else { nil }
    }

    /// Takes the next bytes.
    ///
    /// Call ``next()`` until it returns nil before the next ones.
    package mutating func feed(_ chunk: [UInt8]) {
        guard coding != nil else {
            plain = chunk
            return
        }
        decompressor?.feed(chunk)
    }

    /// Returns the file's next bytes, or nil if more of the answer is needed.
    package mutating func next() throws(CompressionError) -> [UInt8]? {
        guard var open = decompressor.take() else {
            defer { plain = [] }
            return plain.isEmpty ? nil : plain
        }
        isComplete = false
        let piece = try open.next()
        isComplete = open.isComplete
        decompressor = consume open
        return piece
    }

    /// - Throws: `incomplete` if a compressed form was not complete.
    package func finish() throws(CompressionError) {
        if let coding, !isComplete { throw .incomplete(coding.codec) }
    }
}
