import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

/// M3: Meteor's order, each rule with everything after it also true.
@Suite("The decision on a bundle")
struct BundleDecisionTests {
    private static let until = ManualClock.start.adding(.days(14))
    private static let order: [(what: String, decision: BundleDecision)] = [
        ("downloading", .ignore(.downloading)), ("current", .ignore(.current)), ("pending", .ignore(.pending)),
        ("blacklisted", .refuse(.blacklisted(until: until))),
        ("incompatible", .refuse(.incompatible(ios, needs: "old"))),
        ("embedded", .ready(.embedded)), ("on disk", .ready(.disk)), ("nothing of it", .download),
    ]
    private static let ios: Platform = {
        guard let platform = Platform(name: "ios", compatibility: "new") else { preconditionFailure("in the grammar") }
        return platform
    }()

    @Test(arguments: order.indices)
    func `takes the first rule that applies, in Meteor's order`(first: Int) {
        let offered = installed("web 2").content
        let holds = Set(Self.order[first...].map(\.what))
        var facts = BundleDecision.Facts()
        if holds.contains("downloading") { facts.downloading = offered }
        if holds.contains("current") { facts.current = offered }
        if holds.contains("pending") { facts.pending = offered }
        if holds.contains("blacklisted") { facts.blockStatus = .blocked(until: Self.until) }
        if holds.contains("incompatible") { facts.platform = Self.ios }
        if holds.contains("embedded") { facts.embedded = offered }
        facts.isOnDisk = holds.contains("on disk")
        let decision = BundleDecision(offered, compatibility: ["ios": "old", "android": "new"], facts: facts)
        #expect(decision == Self.order[first].decision, "\(Self.order[first].what)")
    }

    @Test(
        arguments: [
            (nil, [:], true), (nil, ["ios": "x"], true), ("ios", ["ios": "new"], true), ("ios", ["ios": "old"], false),
            ("ios", [:], false), ("ios", ["android": "new"], false), ("ios", ["iOS": "new"], false),
        ] as [(String?, [String: String], Bool)]
    )
    func `asks for this platform's hash, and a device without a platform does not ask`(
        platform: String?,
        listed: [String: String],
        isTaken: Bool
    ) {
        var facts = BundleDecision.Facts()
        facts.platform = platform.flatMap { Platform(name: $0, compatibility: "new") }
        let decision = BundleDecision(installed("web 2").content, compatibility: listed, facts: facts)
        #expect((decision == .download) == isTaken)
    }

    @Test func `does not stand in the way of a version that only waits for its hour`() {
        var facts = BundleDecision.Facts()
        facts.blockStatus = .waiting(until: Self.until)
        #expect(BundleDecision(installed("web 2").content, compatibility: [:], facts: facts) == .download)
    }
}
