extension BundleIndex {
    /// - Parameter sha256: the manifest's.
    /// - Returns: nil when the manifest's index is none of its assets, which a checked manifest never has.
    package init?(_ manifest: AssetManifest, manifest sha256: SHA256Digest) {
        let assets = manifest.assets
        guard let index = manifest.row(of: manifest.index) else { return nil }
        var (rows, texts) = ([UInt8](), Texts())
        rows.reserveCapacity(assets.count * Self.rowBytes)
        var decoded: [ExactString] = []
        for asset in assets {
            let url = ExactString(AssetURL.decoded(asset.url) ?? asset.url)
            decoded.append(url)
            rows += asset.fingerprint.sha256.bytes
            FixedRows.append(asset.fingerprint.size, bytes: 8, to: &rows)
            let map = asset.sourceMap.flatMap { manifest.row(of: $0) }
            FixedRows.append(map.map { UInt64($0) } ?? Self.none, bytes: 4, to: &rows)
            FixedRows.append(asset.cacheable ? 1 : 0, bytes: 2, to: &rows)
            for text in [asset.path.text, asset.url, url.text] { texts.add(text, namedIn: &rows) }
        }
        for row in decoded.indices.sorted(by: { decoded[$0] < decoded[$1] }) {
            FixedRows.append(row, bytes: 4, to: &rows)
        }
        for route in manifest.routes ?? [] { texts.add(route.text, namedIn: &rows) }
        var out = Self.magic + sha256.bytes
        FixedRows.append(assets.count, bytes: 4, to: &out)
        FixedRows.append(index, bytes: 4, to: &out)
        FixedRows.append(manifest.routes.map { UInt64($0.count) } ?? Self.none, bytes: 4, to: &out)
        FixedRows.append(Self.headerBytes + rows.count, bytes: 4, to: &out)
        self.init(out + rows + texts.bytes, of: sha256)
    }

    /// Texts one after the other; one that is the same as the one before it stands once.
    private struct Texts {
        var bytes: [UInt8] = []
        private var last: (text: String, place: Int) = ("", 0)

        mutating func add(_ text: String, namedIn rows: inout [UInt8]) {
            if !text.hasSameBytes(as: last.text) {
                last = (text, bytes.count)
                bytes += text.utf8
            }
            FixedRows.append(last.place, bytes: 4, to: &rows)
            FixedRows.append(text.utf8.count, bytes: 2, to: &rows)
        }
    }
}
