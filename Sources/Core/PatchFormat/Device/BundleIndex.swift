/// A binary index of an installed bundle, which a start and a sync without changes search in place instead of parsing the manifest.
///
/// It is made from a verified manifest and bound to its SHA-256. It is a local file of the device, is never published, and can be
/// made again at any time. Numbers are big-endian, text is UTF-8, positions count from the start of the texts.
///
/// ```
/// patchline-index-v2 newline                                     19 bytes
/// manifest sha256, assets, row of the index, routes, texts       32, 4, 4, 4 (no routes: all ones), 4
/// routing (0: not specified, 1: site, 2: app), header fields     4, 4
/// one row for each asset, in the manifest's order:               64 bytes
///   sha256, size, row of the source map (none: all ones), flags  32, 8, 4, 2
///   flags: 1 cacheable; 2, 4, 6 compressed with br, zstd, gzip
///   path, url, decoded url                                       4 + 2 each: position and length
/// the rows again, sorted by the bytes of their decoded urls      4 each
/// the routes: position and length                                4 + 2 each
/// the header fields in order: pattern, name, value               (4 + 2) x 3 each
/// the texts
/// ```
package struct BundleIndex: Sendable {
    static let magic = Array("patchline-index-v2\n".utf8)
    static let headerBytes = magic.count + 56
    static let rowBytes = 64
    static let fieldBytes = 18
    static let none = UInt64(UInt32.max)

    package let bytes: [UInt8]
    package let manifest: SHA256Digest
    package let count: Int
    let routeCount: Int?
    package let routing: BundleRouting?
    private let fieldCount: Int
    private let table: FixedRows
    private let indexRow: Int
    private let texts: Int

    /// Reads an index that ``init(_:manifest:)`` made.
    ///
    /// The caller must ensure that `bytes` were not altered.
    package init?(_ bytes: [UInt8], of manifest: SHA256Digest) {
        let start = Self.magic.count
        guard bytes.count >= Self.headerBytes, bytes.starts(with: Self.magic),
            SHA256Digest(bytes: bytes[start..<start + SHA256.byteCount]) == manifest
        else { return nil }
        self.bytes = bytes
        self.manifest = manifest
        table = FixedRows(bytes)
        func number(_ field: Int) -> UInt64 {
            FixedRows(bytes).number(at: start + SHA256.byteCount + field * 4, bytes: 4)
        }
        (count, indexRow) = (Int(number(0)), Int(number(1)))
        routeCount = number(2) == Self.none ? nil : Int(number(2))
        texts = Int(number(3))
        routing = number(4) == 0 ? nil : number(4) == 1 ? .site : .app
        fieldCount = Int(number(5))
        let fixed =
            Self.headerBytes + count * (Self.rowBytes + 4) + (routeCount ?? 0) * 6 + fieldCount * Self.fieldBytes
        guard texts == fixed, texts <= bytes.count, indexRow < count else { return nil }
    }

    // MARK: Rows

    /// One file of the bundle.
    package struct Row: Equatable, Sendable {
        package let number: Int
        package let path: String
        package let sha256: SHA256Digest
        /// The size in bytes.
        package let size: Int
        package let cacheable: Bool
        /// The compression that the file is served with.
        package let coding: AssetCoding?
    }

    /// The file returned for `/` and for client-side routes.
    package var index: Row? { self[indexRow] }

    package subscript(row: Int) -> Row? {
        guard let sha256 = sha256(of: row) else { return nil }
        let flags = table.number(at: place(of: row) + 44, bytes: 2)
        return Row(
            number: row,
            path: path(of: row),
            sha256: sha256,
            size: Int(clamping: table.number(at: place(of: row) + 32, bytes: 8)),
            cacheable: flags & 1 == 1,
            coding: Self.coding(Int(flags & 6))
        )
    }

    package func path(of row: Int) -> String { text(at: place(of: row) + 46) }

    package func sha256(of row: Int) -> SHA256Digest? {
        let place = place(of: row)
        guard place <= bytes.count - Self.rowBytes else { return nil }
        return SHA256Digest(bytes: bytes[place..<place + SHA256.byteCount])
    }

    /// The URL path of a row's source map, as the manifest spells it.
    package func sourceMap(of row: Int) -> String? {
        let map = table.number(at: place(of: row) + 40, bytes: 4)
        return map == Self.none ? nil : text(at: place(of: Int(map)) + 52)
    }

    /// The file at a decoded URL path.
    package func row(at url: String) -> Row? {
        var range = 0..<count
        let order = Self.headerBytes + count * Self.rowBytes
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            let row = Int(table.number(at: order + middle * 4, bytes: 4))
            let there = textBytes(at: place(of: row) + 58)
            if there.elementsEqual(url.utf8) { return self[row] }
            range =
                there.lexicographicallyPrecedes(url.utf8)
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    /// The client-side routes, or nil if every unknown path is answered with the index.
    package var routes: [RoutePattern]? {
        let start = Self.headerBytes + count * (Self.rowBytes + 4)
        return routeCount.map { (0..<$0).compactMap { RoutePattern(text(at: start + $0 * 6)) } }
    }

    /// The response headers in the manifest's order, as rules with one field each.
    package var headers: [HeaderRule] {
        let start = Self.headerBytes + count * (Self.rowBytes + 4) + (routeCount ?? 0) * 6
        return (0..<fieldCount).compactMap { number in
            let place = start + number * Self.fieldBytes
            let field = HeaderRule.Field(name: text(at: place + 6), value: text(at: place + 12))
            return FilePattern(text(at: place)).map { HeaderRule(pattern: $0, fields: [field]) }
        }
    }

    private static func coding(_ flags: Int) -> AssetCoding? {
        AssetCoding.allCases.first { Self.flags($0) == flags }
    }

    static func flags(_ coding: AssetCoding?) -> Int {
        switch coding {
        case nil: 0
        case .brotli?: 2
        case .zstandard?: 4
        case .gzip?: 6
        }
    }

    private func place(of row: Int) -> Int { Self.headerBytes + row * Self.rowBytes }

    private func text(at place: Int) -> String { String(decoding: textBytes(at: place), as: UTF8.self) }

    private func textBytes(at place: Int) -> ArraySlice<UInt8> {
        let start = texts + Int(table.number(at: place, bytes: 4))
        let end = start + Int(table.number(at: place + 4, bytes: 2))
        return end <= bytes.count ? bytes[start..<end] : []
    }
}
