import PatchCrypto
package import PatchFormat

/// A manifest whose bytes are those of a verified entry and whose every row carries a signature that holds.
package struct VerifiedManifest: Sendable {
    package let manifest: AssetManifest
    package let fingerprint: Fingerprint
    package let column: SHA256Digest
    /// Signatures that were checked; the others had been before.
    package let checkedRows: Int

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

    /// The same from documents that come piece by piece, the rows on all cores.
    ///
    /// Both are asked for to their ends. A source that ends early makes a fault: whoever reads files asks first whether
    /// they could be read.
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
        beside vouched: VouchedRows? = nil
    ) async throws(TrustError) {
        let bare = try AddressedManifest(from: source, of: entry, app: app)
        let digested = DigestedBytes(column)
        checkedRows = try await bare.checkRows(digested, size: columnSize, keys, beside: vouched).get()
        manifest = bare.manifest
        fingerprint = bare.fingerprint
        self.column = digested.finish().sha256
    }
}
