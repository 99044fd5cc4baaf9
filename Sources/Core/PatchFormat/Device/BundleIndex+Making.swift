extension BundleIndex {
    /// - Parameter sha256: the digest of the manifest.
    /// - Returns: nil if the manifest's index page is not among its assets. A checked manifest always contains it.
    package init?(_ manifest: AssetManifest, manifest sha256: SHA256Digest) {
        let assets = manifest.assets
        guard let index = manifest.row(of: manifest.index) else { return nil }
        let fields = manifest.headers.flatMap { rule in rule.fields.map { (rule.pattern, $0) } }
        let fixed =
            Self.headerBytes + assets.count * (Self.rowBytes + 4) + (manifest.routes?.count ?? 0) * 6
            + fields.count * Self.fieldBytes
        var (out, texts) = (Self.magic + sha256.bytes, Texts())
        out.reserveCapacity(fixed)
        FixedRows.append(assets.count, bytes: 4, to: &out)
        FixedRows.append(index, bytes: 4, to: &out)
        FixedRows.append(manifest.routes.map { UInt64($0.count) } ?? Self.none, bytes: 4, to: &out)
        FixedRows.append(fixed, bytes: 4, to: &out)
        FixedRows.append(Self.number(manifest.routing), bytes: 4, to: &out)
        FixedRows.append(fields.count, bytes: 4, to: &out)
        var urls: [Range<Int>] = []
        urls.reserveCapacity(assets.count)
        for asset in assets {
            out += asset.fingerprint.sha256.bytes
            FixedRows.append(asset.fingerprint.size, bytes: 8, to: &out)
            let map = asset.sourceMap.flatMap { manifest.row(of: $0) }
            FixedRows.append(map.map { UInt64($0) } ?? Self.none, bytes: 4, to: &out)
            FixedRows.append((asset.cacheable ? 1 : 0) + Self.flags(asset.coding), bytes: 2, to: &out)
            texts.add(asset.path.text, namedIn: &out)
            texts.add(asset.url, namedIn: &out)
            urls.append(texts.add(AssetURL.decoded(asset.url) ?? asset.url, namedIn: &out))
        }
        let inOrder = urls.indices.sorted { left, right in
            texts.bytes[urls[left]].lexicographicallyPrecedes(texts.bytes[urls[right]])
        }
        for row in inOrder {
            FixedRows.append(row, bytes: 4, to: &out)
        }
        for route in manifest.routes ?? [] { texts.add(route.text, namedIn: &out) }
        for (pattern, field) in fields {
            for text in [pattern.text, field.name, field.value] { texts.add(text, namedIn: &out) }
        }
        out += texts.bytes
        self.init(out, of: sha256)
    }

    private static func number(_ routing: BundleRouting?) -> Int {
        switch routing {
        case nil: 0
        case .site?: 1
        case .app?: 2
        }
    }

    /// Texts in sequence, with consecutive duplicates stored once.
    private struct Texts {
        var bytes: [UInt8] = []
        private var last: (text: String, place: Int) = ("", 0)

        /// - Returns: the byte range of the text.
        @discardableResult
        mutating func add(_ text: String, namedIn rows: inout [UInt8]) -> Range<Int> {
            if !text.hasSameBytes(as: last.text) {
                last = (text, bytes.count)
                bytes += text.utf8
            }
            FixedRows.append(last.place, bytes: 4, to: &rows)
            FixedRows.append(text.utf8.count, bytes: 2, to: &rows)
            return last.place..<last.place + text.utf8.count
        }
    }
}
