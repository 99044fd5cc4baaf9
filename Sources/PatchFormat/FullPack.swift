/// The pack of a whole bundle: the bytes of its assets in the order of its manifest, one after the other, with nothing between.
///
/// It is transport and not trust, and has no index of its own: the signed manifest says where each file begins and ends in
/// it, and each file is compared with its entry like one that came by itself.
package struct FullPack: Sendable {
    /// Where each asset begins, in bytes, and where the last one ends.
    package let offsets: [Int]

    /// - Parameter assets: of a manifest, in its order.
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

    /// In bytes.
    package var size: Int { offsets[offsets.count - 1] }

    /// Where these rows of the manifest stand in the pack.
    package func bytes(of rows: Range<Int>) -> Range<Int> { offsets[rows.lowerBound]..<offsets[rows.upperBound] }
}
