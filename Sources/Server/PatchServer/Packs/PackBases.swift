package import PatchDelta
import PatchFormat

/// From which earlier versions packs lead to a version of a bundle: the ones that its channel listed last.
struct PackBases: Sendable {
    let new: BundleVersion
    /// Whether the list before has it already.
    let isListed: Bool
    /// The most recent first.
    let candidates: [BundleVersion]

    /// - Parameters:
    ///   - list: every bundle of the new list, in its order.
    ///   - before: those of the lists before, the newest list first.
    init(of new: BundleVersion, in list: [BundleVersion], after before: [[BundleVersion]]) {
        self.new = new
        isListed = before.first?.contains { $0.digest == new.digest } ?? false
        // Nobody goes from a version to one that stands below it in the same list.
        let above = list.prefix { $0.digest != new.digest }.map(\.digest)
        var known = Set(above).union([new.digest])
        candidates = before.joined().filter {
            $0.label.patchID == new.label.patchID && known.insert($0.digest).inserted
        }
    }
}

/// A version in the tree that a pack is applied to.
package struct PackBase: Sendable {
    package let manifest: PackManifest
    package let column: [UInt8]
    /// Of what a reader may read of the base and make, in bytes.
    package let work: Int
}
