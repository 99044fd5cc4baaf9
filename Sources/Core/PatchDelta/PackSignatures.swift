package import PatchFormat
import PatchCrypto

/// The signatures that are downloaded beside a pack: those of the rows that the base does not contain, in order.
///
/// A key makes the same signature for the same statement, so the base's column contains the others.
package enum PackSignatures {
    /// Returns `from-<base>.sigs`, or nil if the new column cannot be made from the base's: another key, another length, another
    /// app.
    package static func bytes(
        from base: PackManifest,
        column baseColumn: [UInt8],
        to new: PackManifest,
        column newColumn: [UInt8]
    ) -> [UInt8]? {
        guard let (baseHeader, header) = try? headers(base, baseColumn, new, newColumn),
            baseHeader.keyID == header.keyID, baseHeader.length == header.length
        else { return nil }
        var signatures: [UInt8] = []
        for row in 0..<new.count where origin(of: row, in: new, base) == nil {
            signatures += newColumn[header.place(of: row)]
        }
        let column = try? self.column(
            from: base,
            column: baseColumn,
            to: new,
            signatures: signatures,
            digest: SHA256Digest(of: newColumn)
        )
        return column == newColumn ? signatures : nil
    }

    /// Returns the new column.
    ///
    /// - Parameters:
    ///   - signatures: `from-<base>.sigs`, which is not verified.
    ///   - digest: the signed SHA-256 of the new column.
    package static func column(
        from base: PackManifest,
        column baseColumn: [UInt8],
        to new: PackManifest,
        signatures: [UInt8],
        digest: SHA256Digest
    ) throws(PackError) -> [UInt8] {
        let header: SignatureColumn.Header
        do throws(FormatError) {
            header = try SignatureColumn.Header(
                baseColumn.prefix(SignatureColumn.Header.byteCount),
                of: baseColumn.count,
                assets: base.count,
                named: "manifest.sigs"
            )
        } catch { throw .malformed(error) }
        let origins = (0..<new.count).map { origin(of: $0, in: new, base) }
        guard signatures.count == origins.count(where: { $0 == nil }) * header.length else {
            throw .signatures(.length)
        }
        var next = 0
        var rows: [[UInt8]] = []
        for origin in origins {
            if let origin {
                rows.append(Array(baseColumn[header.place(of: origin)]))
            } else {
                rows.append(Array(signatures[next..<next + header.length]))
                next += header.length
            }
        }
        let column = SignatureColumn(keyID: header.keyID, signatures: rows).bytes
        guard SHA256Digest(of: column) == digest else { throw .signatures(.column) }
        return column
    }

    private static func headers(
        _ base: PackManifest,
        _ baseColumn: [UInt8],
        _ new: PackManifest,
        _ newColumn: [UInt8]
    ) throws(FormatError) -> (SignatureColumn.Header, SignatureColumn.Header) {
        func header(_ column: [UInt8], _ count: Int) throws(FormatError) -> SignatureColumn.Header {
            let bytes = column.prefix(SignatureColumn.Header.byteCount)
            return try SignatureColumn.Header(bytes, of: column.count, assets: count, named: "manifest.sigs")
        }
        return (try header(baseColumn, base.count), try header(newColumn, new.count))
    }

    /// The row of the base with the same statement, or nil for an exceptional row.
    private static func origin(of row: Int, in new: PackManifest, _ base: PackManifest) -> Int? {
        guard let old = base.row(of: new.path(of: row)), base.fingerprints[old] == new.fingerprints[row] else {
            return nil
        }
        return old
    }
}
