package import PatchCompression
package import PatchFormat

/// Takes the bytes of an answer as they travel, and gives out the file's.
package struct BodyDecoder: ~Copyable {
    /// Nil for a file that comes as it is.
    package let coding: CompressionFormat?
    private var decompressor: Decompressor?
    private var plain: [UInt8] = []
    /// Whether a compressed form came to its end; who counts a plain file's bytes knows that of it.
    package private(set) var isComplete: Bool

    /// - Parameter limit: the most bytes that may come out of a compressed form.
    package init(_ coding: CompressionFormat?, limit: Int) throws(CompressionError) {
        self.coding = coding
        isComplete = coding == nil
        decompressor = if let coding { try Decompressor(coding, limit: limit) } else { nil }
    }

    /// Takes the next bytes; ask ``next()`` until it has nothing more to give before the next ones.
    package mutating func feed(_ chunk: [UInt8]) {
        guard coding != nil else {
            plain = chunk
            return
        }
        decompressor?.feed(chunk)
    }

    /// The file's next bytes; nil when more of the answer is needed.
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

    /// - Throws: `incomplete` where a compressed form did not come to its end.
    package func finish() throws(CompressionError) {
        if let coding, !isComplete { throw .incomplete(coding.codec) }
    }
}
