/// Which of several packs are made, and how thoroughly.
///
/// Limits the time to a minute or two.
package struct PackBudget: Equatable, Sendable {
    /// Above this total, less effort is used.
    ///
    /// Above the other, the least important packs are omitted.
    package static let thorough = 64_000_000
    package static let most = 400_000_000

    /// The positions of the packs to make, in order.
    package let kept: [Int]
    package let effort: PackMaker.Effort

    /// - Parameter contents: the bytes of new content of each pack, the most important pack first.
    package init(_ contents: [Int]) {
        var (kept, total) = ([Int](), 0)
        for (place, bytes) in contents.enumerated() where total + bytes <= Self.most {
            total += bytes
            kept.append(place)
        }
        self.kept = kept
        effort = total <= Self.thorough ? .most : .quick
    }
}
