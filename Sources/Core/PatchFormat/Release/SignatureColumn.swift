/// `manifest.sigs`: one signature for each asset, in manifest order.
///
/// A separate file keeps the manifest small.
///
/// `PLSIGS1\n` (8 bytes), key id (32 raw bytes), signature length (u16, big-endian), count (u32, big-endian), signatures.
package struct SignatureColumn: Hashable, Sendable {
    package static let magic = Array("PLSIGS1\n".utf8)

    package let keyID: SHA256Digest
    package let signatures: [[UInt8]]

    package init(keyID: SHA256Digest, signatures: [[UInt8]]) {
        precondition(Set(signatures.map(\.count)).count <= 1, "one key makes signatures of one length")
        self.keyID = keyID
        self.signatures = signatures
    }

    package init(_ bytes: [UInt8], assets: Int, named document: String = "manifest.sigs") throws(FormatError) {
        let header = try Header(bytes.prefix(Header.byteCount), of: bytes.count, assets: assets, named: document)
        keyID = header.keyID
        signatures = (0..<assets).map { index in Array(bytes[header.place(of: index)]) }
    }

    package var bytes: [UInt8] {
        let length = signatures.first?.count ?? 0
        var out = Self.magic + keyID.bytes
        out += [UInt8(length >> 8 & 255), UInt8(length & 255)]
        out += [24, 16, 8, 0].map { UInt8(signatures.count >> $0 & 255) }
        out.reserveCapacity(out.count + length * signatures.count)
        for signature in signatures { out += signature }
        return out
    }
}

extension SignatureColumn {
    /// The header in front of the signatures.
    package struct Header: Equatable, Sendable {
        package static let byteCount = 46

        package let keyID: SHA256Digest
        /// The length of each signature in bytes.
        package let length: Int
        package let count: Int

        /// - Parameters:
        ///   - bytes: the first ``byteCount`` bytes, or fewer if the column is shorter.
        ///   - total: the size of the whole column in bytes.
        package init(
            _ bytes: some Collection<UInt8>,
            of total: Int,
            assets: Int,
            named document: String
        ) throws(FormatError) {
            guard total <= Limits.signatureColumn else {
                throw FormatError(document, rule: "is over \(Limits.signatureColumn) bytes")
            }
            let bytes = Array(bytes)
            guard bytes.count >= Self.byteCount, bytes.starts(with: magic),
                let keyID = SHA256Digest(bytes: bytes[8..<40])
            else {
                throw FormatError(document, rule: "must start with PLSIGS1, a newline, a key id, a length and a count")
            }
            let length = Int(bytes[40]) << 8 | Int(bytes[41])
            let count = bytes[42..<46].reduce(0) { $0 << 8 | Int($1) }
            guard count == assets else {
                throw FormatError(document, field: "count", rule: "is \(count) for a manifest of \(assets) assets")
            }
            guard count == 0 ? length == 0 : (256...1_024).contains(length), total == Self.byteCount + length * count
            else {
                throw FormatError(
                    document,
                    field: "length",
                    rule: "is \(length) for \(count) signatures in \(total) bytes"
                )
            }
            (self.keyID, self.length, self.count) = (keyID, length, count)
        }

        /// The byte range of this row's signature in the column.
        package func place(of row: Int) -> Range<Int> {
            let start = Self.byteCount + row * length
            return start..<start + length
        }
    }
}
