/// Which of several packs are made, and how thoroughly: whoever waits for them waits for a minute or two at most.
package struct PackBudget: Equatable, Sendable {
    /// Above this, less effort is made; above the other, the packs that are wanted least are left out.
    package static let thorough = 64_000_000
    package static let most = 400_000_000

    /// Their places, in order.
    package let kept: [Int]
    package let effort: PackMaker.Effort

    /// - Parameter contents: bytes that each has to bring, the pack that is wanted most first.
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
