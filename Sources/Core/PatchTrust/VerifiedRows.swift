import PatchCrypto
package import PatchFormat

/// A manifest whose row signatures were all checked on this device before, and its signature column.
///
/// A row of a later version needs no second check if its statement, its signature and its key are the same.
package struct VerifiedRows: Sendable {
    private let manifest: AssetManifest
    private let header: SignatureColumn.Header
    private let column: [UInt8]

    /// Nil unless the documents have these digests.
    ///
    /// - Precondition: every signature of the column with this digest was checked for the manifest with this digest.
    package init?(_ source: some ByteSource, sha256: SHA256Digest, column: [UInt8], columnDigest: SHA256Digest) {
        let digested = DigestedBytes(source)
        guard let manifest = try? AssetManifest(from: digested, named: "manifest"),
            digested.finish().sha256 == sha256, SHA256Digest(of: column) == columnDigest,
            let header = try? SignatureColumn.Header(
                column.prefix(SignatureColumn.Header.byteCount),
                of: column.count,
                assets: manifest.assets.count,
                named: "manifest.sigs"
            )
        else { return nil }
        (self.manifest, self.header, self.column) = (manifest, header, column)
    }

    /// Whether this signature over the statement of `asset` in `other` was checked before.
    func vouches(for asset: Asset, of other: AssetManifest, _ signature: ArraySlice<UInt8>, by key: SHA256Digest)
        -> Bool
    {
        guard key == header.keyID, signature.count == header.length, manifest.app == other.app,
            manifest.patchID == other.patchID, let row = row(of: asset.path),
            manifest.assets[row].fingerprint == asset.fingerprint
        else { return false }
        return column[header.place(of: row)].elementsEqual(signature)
    }

    /// Binary search: assets are sorted by their paths in ascending order.
    private func row(of path: AssetPath) -> Int? {
        var rows = manifest.assets.indices
        while let middle = rows.isEmpty ? nil : rows.lowerBound + rows.count / 2 {
            let found = manifest.assets[middle].path
            if found == path { return middle }
            rows = found < path ? middle + 1..<rows.upperBound : rows.lowerBound..<middle
        }
        return nil
    }
}
