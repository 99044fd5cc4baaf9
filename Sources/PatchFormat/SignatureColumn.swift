/// `manifest.sigs`: one signature an asset, in manifest order, apart from the manifest so that that stays small.
///
/// `PLSIGS1\n` (8 bytes), key id (32 raw bytes), signature length (u16, big-endian), count (u32, big-endian), signatures.
package struct SignatureColumn: Hashable, Sendable {
    package static let magic = Array("PLSIGS1\n".utf8)
    private static let headerBytes = 46

    package let keyID: SHA256Digest
    package let signatures: [[UInt8]]

    package init(keyID: SHA256Digest, signatures: [[UInt8]]) {
        precondition(Set(signatures.map(\.count)).count <= 1, "one key makes signatures of one length")
        self.keyID = keyID
        self.signatures = signatures
    }

    package init(_ bytes: [UInt8], assets: Int, named document: String = "manifest.sigs") throws(FormatError) {
        guard bytes.count <= Limits.signatureColumn else {
            throw FormatError(document, rule: "is over \(Limits.signatureColumn) bytes")
        }
        guard bytes.count >= Self.headerBytes, bytes.starts(with: Self.magic),
            let keyID = SHA256Digest(bytes: Array(bytes[8..<40]))
        else { throw FormatError(document, rule: "must start with PLSIGS1, a newline, a key id, a length and a count") }
        let length = Int(bytes[40]) << 8 | Int(bytes[41])
        let count = bytes[42..<46].reduce(0) { $0 << 8 | Int($1) }
        guard count == assets else {
            throw FormatError(document, field: "count", rule: "is \(count) for a manifest of \(assets) assets")
        }
        guard count == 0 ? length == 0 : (256...1_024).contains(length),
            bytes.count == Self.headerBytes + length * count
        else {
            throw FormatError(
                document,
                field: "length",
                rule: "is \(length) for \(count) signatures in \(bytes.count) bytes"
            )
        }
        self.keyID = keyID
        signatures = (0..<count).map { index in
            Array(bytes[(Self.headerBytes + index * length)..<(Self.headerBytes + (index + 1) * length)])
        }
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
