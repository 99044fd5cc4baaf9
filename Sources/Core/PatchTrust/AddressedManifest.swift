import PatchCrypto
package import PatchFormat

/// A manifest whose bytes and names match a verified entry.
///
/// The entry's signature covers the manifest's digests and thereby its rows. The signatures of the rows themselves were not
/// checked.
package struct AddressedManifest: Sendable {
    package let manifest: AssetManifest
    let fingerprint: Fingerprint
    let label: String

    /// Computes the digests while it reads the manifest.
    package init(
        from source: some ByteSource,
        of entry: PatchEntry,
        app: AppID,
        observe: CheckObserver? = nil
    ) throws(TrustError) {
        let label = "\(entry.patchID) \(entry.version)"
        let digested = DigestedBytes(source)
        let parsed = Result { () throws(FormatError) in
            try AssetManifest(from: digested, named: "\(label) manifest")
        }
        let found = digested.finish()
        if let field = found.firstDifference(from: entry.fingerprint) {
            throw .entry(EntryFault(entry: "\(label) manifest", rule: .differs(field)))
        }
        observe?(CheckRecord(.fingerprint, of: "\(label) manifest"))
        do throws(FormatError) { manifest = try parsed.get() } catch { throw .malformed(error) }
        fingerprint = found
        self.label = label
        for (field, found, expected) in [
            ("app", manifest.app.text, app.text), ("patchId", manifest.patchID.text, entry.patchID.text),
            ("version", manifest.version.text, entry.version.text),
        ] where found != expected {
            throw .foreign(document: "\(label) manifest", field: field, found: found, expected: expected)
        }
        observe?(CheckRecord(.addressee, of: "\(label) manifest"))
    }

    /// Returns the rows, to be checked against a column with this header.
    func rows(
        _ header: some Collection<UInt8>,
        of columnSize: Int,
        _ keys: EntryKeys,
        beside vouched: VerifiedRows? = nil
    ) throws(TrustError) -> SignedRows {
        do throws(FormatError) {
            let header = try SignatureColumn.Header(
                header,
                of: columnSize,
                assets: manifest.assets.count,
                named: "\(label) manifest.sigs"
            )
            return SignedRows(manifest: manifest, label: label, header: header, keys: keys, vouched: vouched)
        } catch { throw .malformed(error) }
    }
}

/// Assets with one signature each.
struct SignedRows: Sendable {
    let manifest: AssetManifest
    let label: String
    let header: SignatureColumn.Header
    let keys: EntryKeys
    let vouched: VerifiedRows?

    func name(of row: Int) -> String {
        "\(label) \(manifest.assets[row].path)"
    }

    func check(_ row: Int, _ signature: ArraySlice<UInt8>) throws(EntryFault) {
        try keys.check(
            EntrySignature(keyID: header.keyID, bytes: Array(signature)),
            over: manifest.assets[row].statement(app: manifest.app, patchID: manifest.patchID),
            entry: name(of: row)
        )
    }

    /// Checks the rows from `first` on against these signatures.
    ///
    /// Rows that an earlier version vouches for are not checked again, unless the list no longer contains their key.
    ///
    /// - Returns: how many signatures were checked.
    func check(from first: Int, _ signatures: [UInt8]) throws(EntryFault) -> Int {
        var checked = 0
        let vouched = keys.has(header.keyID) ? vouched : nil
        for row in 0..<signatures.count / header.length {
            let signature = signatures[row * header.length..<(row + 1) * header.length]
            let asset = manifest.assets[first + row]
            if vouched?.vouches(for: asset, of: manifest, signature, by: header.keyID) == true { continue }
            try check(first + row, signature)
            checked += 1
        }
        return checked
    }
}
