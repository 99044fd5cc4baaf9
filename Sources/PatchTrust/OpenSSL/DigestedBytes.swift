package import PatchFormat

/// Digests what another source gives, as it gives it.
package final class DigestedBytes: ByteSource {
    private let source: any ByteSource
    private var digester: Digester? = Digester()

    package init(_ source: some ByteSource) {
        self.source = source
    }

    package func next() -> [UInt8]? {
        let piece = source.next()
        if let piece { digester?.update(piece) }
        return piece
    }

    /// The size and digests of all that was given.
    ///
    /// Call once.
    package func finish() -> Fingerprint {
        guard let digester = digester.take() else { preconditionFailure("finished twice") }
        return digester.finish()
    }
}
