/// The pack of a whole bundle: the bytes of its assets in the order of its manifest, without separators.
///
/// The pack is not signed and has no index. The signed manifest gives the position of each file in it, and each file is compared
/// with its entry as after a separate download.
package struct FullPack: Sendable {
    /// The offset of each asset in bytes, and the end of the last one.
    package let offsets: [Int]

    /// - Parameter assets: in the order of the manifest.
    package init(_ assets: some Collection<Asset>) {
        var offsets = [0]
        offsets.reserveCapacity(assets.count + 1)
        var end = 0
        for asset in assets {
            end += asset.fingerprint.size
            offsets.append(end)
        }
        self.offsets = offsets
    }

    fileprivate init(offsets: [Int]) {
        self.offsets = offsets
    }

    /// The byte range of these rows of the manifest in the pack.
    package func bytes(of rows: Range<Int>) -> Range<Int> { offsets[rows.lowerBound]..<offsets[rows.upperBound] }
}

/// A pack and the objects that it consists of, in order.
///
/// A server needs only this part of a manifest to send the pack.
package struct FullPackContents: Sendable {
    package let pack: FullPack
    package let objects: [SHA256Digest]

    /// Reads only sizes and digests of a manifest, which was checked when it was published.
    ///
    /// - Parameter source: bounded by its creator; it is read to the end.
    package init(ofManifest source: some ByteSource, named document: String) throws(FormatError) {
        let rows = FullPackRows(of: document)
        let json = try JSON.document(from: source, named: document, rows: JSONRows(of: "assets") { rows.take($0) })
        try Fields(json, of: document).constant("format", AssetManifest.format)
        if let broken = rows.broken { throw broken }
        pack = FullPack(offsets: rows.offsets)
        objects = rows.objects
    }
}

private final class FullPackRows {
    private let document: String
    private(set) var offsets = [0]
    private(set) var objects: [SHA256Digest] = []
    private(set) var broken: FormatError?

    init(of document: String) {
        self.document = document
    }

    func take(_ row: JSON) {
        guard broken == nil else { return }
        do throws(FormatError) {
            let fields = try Fields(row, of: document, at: "assets[\(objects.count)]")
            guard objects.count < Limits.assetsInBundle else {
                throw fields.broken("assets", "must hold at most \(Limits.assetsInBundle) elements")
            }
            let size = try fields.integer("size", in: 0...Limits.object)
            objects.append(try fields.digest("sha256"))
            offsets.append(offsets[objects.count - 1] + size)
        } catch { broken = error }
    }
}
