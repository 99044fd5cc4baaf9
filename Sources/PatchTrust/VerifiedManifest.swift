package import PatchFormat

/// A manifest whose bytes are those of a verified entry and whose every row carries a signature that holds.
package struct VerifiedManifest: Sendable {
    package let manifest: AssetManifest
    package let fingerprint: Fingerprint
    package let column: SHA256Digest

    /// - Parameters:
    ///   - bytes: the manifest; its size and digests are those of `entry`.
    ///   - column: `manifest.sigs`.
    /// - Throws: the first row that does not hold, by name.
    package init(
        _ bytes: [UInt8],
        column columnBytes: [UInt8],
        of entry: PatchEntry,
        app: AppID,
        keys: EntryKeys,
        observe: CheckObserver? = nil
    ) throws(TrustError) {
        let label = "\(entry.patchID) \(entry.version)"
        let found = Fingerprint(of: bytes)
        if let field = found.firstDifference(from: entry.fingerprint) {
            throw .entry(EntryFault(entry: "\(label) manifest", rule: .differs(field)))
        }
        observe?(CheckRecord(.fingerprint, of: "\(label) manifest"))
        let manifest: AssetManifest
        let column: SignatureColumn
        do throws(FormatError) {
            manifest = try AssetManifest(bytes, named: "\(label) manifest")
            column = try SignatureColumn(columnBytes, assets: manifest.assets.count, named: "\(label) manifest.sigs")
        } catch { throw .malformed(error) }
        for (field, found, expected) in [
            ("app", manifest.app.text, app.text), ("patchId", manifest.patchID.text, entry.patchID.text),
            ("version", manifest.version.text, entry.version.text),
        ] where found != expected {
            throw .foreign(document: "\(label) manifest", field: field, found: found, expected: expected)
        }
        observe?(CheckRecord(.addressee, of: "\(label) manifest"))
        for (asset, signature) in zip(manifest.assets, column.signatures) {
            do throws(EntryFault) {
                try keys.check(
                    EntrySignature(keyID: column.keyID, bytes: signature),
                    over: asset.statement(app: app, patchID: entry.patchID),
                    entry: "\(label) \(asset.path)"
                )
            } catch { throw .entry(error) }
            observe?(CheckRecord(.assetSignature, of: "\(label) \(asset.path)", key: column.keyID))
        }
        self.manifest = manifest
        self.fingerprint = found
        self.column = SHA256Digest(of: columnBytes)
    }
}
