import PatchCrypto
package import PatchFormat

/// A manifest whose bytes match a verified entry and whose rows all have valid signatures.
package struct VerifiedManifest: Sendable {
    package let manifest: AssetManifest
    package let fingerprint: Fingerprint
    package let column: SHA256Digest
    /// The number of signatures that were checked.
    ///
    /// The others had been checked before.
    package let checkedRows: Int

    /// - Parameters:
    ///   - bytes: the manifest; must have the size and digests of `entry`.
    ///   - column: `manifest.sigs`.
    /// - Throws: the first row that is not valid, by name.
    package init(
        _ bytes: [UInt8],
        column columnBytes: [UInt8],
        of entry: PatchEntry,
        app: AppID,
        keys: EntryKeys,
        observe: CheckObserver? = nil
    ) throws(TrustError) {
        let bare = try AddressedManifest(from: BytesInMemory(bytes), of: entry, app: app, observe: observe)
        let rows = try bare.rows(columnBytes.prefix(SignatureColumn.Header.byteCount), of: columnBytes.count, keys)
        for row in 0..<rows.header.count {
            do throws(EntryFault) {
                try rows.check(row, columnBytes[rows.header.place(of: row)])
            } catch { throw .entry(error) }
            observe?(CheckRecord(.assetSignature, of: rows.name(of: row), key: rows.header.keyID))
        }
        manifest = bare.manifest
        fingerprint = bare.fingerprint
        column = SHA256Digest(of: columnBytes)
        checkedRows = rows.header.count
    }

    /// Verifies documents that arrive in pieces, with the rows on all cores.
    ///
    /// Both sources are read to their ends. A source that ends early causes a fault: a caller that reads files must check for read
    /// errors first.
    ///
    /// - Parameters:
    ///   - column: `manifest.sigs`, of `columnSize` bytes.
    ///   - vouched: an earlier version of the bundle, whose rows were all checked on this device.
    package init(
        from source: some ByteSource,
        column: some ByteSource,
        columnSize: Int,
        of entry: PatchEntry,
        app: AppID,
        keys: EntryKeys,
        beside vouched: VerifiedRows? = nil
    ) async throws(TrustError) {
        let bare = try AddressedManifest(from: source, of: entry, app: app)
        let digested = DigestedBytes(column)
        checkedRows = try await bare.checkRows(digested, size: columnSize, keys, beside: vouched).get()
        manifest = bare.manifest
        fingerprint = bare.fingerprint
        self.column = digested.finish().sha256
    }
}
