/// The packs that lead to a version of a bundle, and their sizes: `packs/<manifest sha256>/index.json`.
///
/// ```
/// {"format":"patchline-packs-v1","whole":{"size":N},
///  "from":[{"base":"<sha256>","size":N,"signatures":N,"manifest":N,"column":{"sha256":"…","size":N},
///           "from":[{"base":"<sha256>","size":N,"signatures":N}]}]}
/// ```
/// The index is an unsigned hint. A device that uses it verifies the downloaded files as it would without it.
package struct PackIndex: Hashable, Sendable {
    package static let format = "patchline-packs-v1"
    /// The sizes that a document may contain: 0 to its largest integer.
    package static let wholeBytes = 0...(1 << 53 - 1)

    /// A pack that leads from a base to the version at its position in the document.
    package struct Pack: Hashable, Sendable {
        /// SHA-256 of the base's manifest.
        package let base: SHA256Digest
        /// The size of `from-BASE.pack` in bytes.
        package let size: Int
        /// The size of the `.sigs` file beside it, or nil if there is none.
        package let signatures: Int?

        package init(base: SHA256Digest, size: Int, signatures: Int? = nil) {
            (self.base, self.size, self.signatures) = (base, size, signatures)
        }
    }

    /// A base's signature column.
    package struct Column: Hashable, Sendable {
        package let sha256: SHA256Digest
        /// The size in bytes.
        package let size: Int

        package init(sha256: SHA256Digest, size: Int) {
            (self.sha256, self.size) = (sha256, size)
        }
    }

    /// A pack that leads to the version itself, and the packs that lead to its base.
    package struct Row: Hashable, Sendable {
        package let pack: Pack
        /// The size of the base's manifest in bytes, or 0 if the writer no longer had it.
        package let manifest: Int
        package let column: Column?
        /// Packs that lead to the base: the first half of a chain of two.
        package let from: [Pack]

        package init(_ pack: Pack, manifest: Int, column: Column? = nil, from: [Pack] = []) {
            (self.pack, self.manifest, self.column, self.from) = (pack, manifest, column, from)
        }
    }

    /// The size of `full.pack` in its smallest form in bytes, or nil if unknown.
    package let whole: Int?
    /// Each base occurs once.
    package let from: [Row]

    package init(whole: Int?, from: [Row]) {
        (self.whole, self.from) = (whole, from)
    }

    /// The number of packs on both levels.
    package var rowCount: Int { from.reduce(0) { $0 + 1 + $1.from.count } }
}

extension PackIndex {
    /// - Parameter manifest: the digest of the manifest that all packs lead to.
    package init(
        _ bytes: [UInt8],
        of manifest: SHA256Digest,
        named document: String = "pack index"
    ) throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: document, limit: Limits.packIndex), of: document)
        try fields.constant("format", Self.format)
        let whole = fields.has("whole") ? try fields.fields("whole").integer("size", in: Self.wholeBytes) : nil
        var (from, bases, count) = ([Row](), Set([manifest]), 0)
        for (place, value) in try fields.array("from", limit: Limits.rowsInPackIndex).enumerated() {
            let row = try Row(Fields(value, of: document, at: "from[\(place)]"), to: manifest)
            guard bases.insert(row.pack.base).inserted else {
                throw fields.broken("from", "must name each base once, and not the manifest itself")
            }
            count += 1 + row.from.count
            guard count <= Limits.rowsInPackIndex else {
                throw fields.broken("from", "must hold at most \(Limits.rowsInPackIndex) rows on both levels together")
            }
            from.append(row)
        }
        self.init(whole: whole, from: from)
    }

    package var json: JSON {
        .fields([
            ("format", .text(Self.format)), ("whole", whole.map { .fields([("size", .integer($0))]) }),
            ("from", .array(from.map(\.json))),
        ])
    }
}

extension PackIndex.Row {
    fileprivate init(_ fields: Fields, to manifest: SHA256Digest) throws(FormatError) {
        let pack = try PackIndex.Pack(fields)
        var (from, bases) = ([PackIndex.Pack](), Set([manifest, pack.base]))
        if fields.has("from") {
            for (place, value) in try fields.array("from", limit: Limits.rowsInPackIndex).enumerated() {
                let inner = try PackIndex.Pack(
                    Fields(value, of: fields.document, at: "\(fields.at("from"))[\(place)]")
                )
                guard bases.insert(inner.base).inserted else {
                    throw fields.broken(
                        "from",
                        "must name each base once, and neither the manifest nor the base of the outer pack"
                    )
                }
                from.append(inner)
            }
        }
        self.init(
            pack,
            manifest: try fields.integer("manifest", in: 0...Limits.manifest),
            column: fields.has("column") ? try PackIndex.Column(fields.fields("column")) : nil,
            from: from
        )
    }

    fileprivate var json: JSON {
        .fields(
            pack.members + [
                ("manifest", .integer(manifest)),
                (
                    "column",
                    column.map { .fields([("sha256", .text($0.sha256.hex)), ("size", .integer($0.size))]) }
                ),
                ("from", from.isEmpty ? nil : .array(from.map { .fields($0.members) })),
            ]
        )
    }
}

extension PackIndex.Column {
    fileprivate init(_ fields: Fields) throws(FormatError) {
        self.init(
            sha256: try fields.digest("sha256"),
            size: try fields.integer("size", in: 0...Limits.signatureColumn)
        )
    }
}

extension PackIndex.Pack {
    fileprivate init(_ fields: Fields) throws(FormatError) {
        self.init(
            base: try fields.digest("base"),
            size: try fields.integer("size", in: 0...Limits.object),
            signatures: fields.has("signatures")
                ? try fields.integer("signatures", in: 0...Limits.signatureColumn) : nil
        )
    }

    fileprivate var members: [(String, JSON?)] {
        [
            ("base", .text(base.hex)), ("size", .integer(size)),
            ("signatures", signatures.map { .integer($0) }),
        ]
    }
}
