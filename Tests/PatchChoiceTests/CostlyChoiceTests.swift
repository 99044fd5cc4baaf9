import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

/// Lists within every limit whose entries require one another so that a choice took minutes, or days.
@Suite("A list made to cost")
struct CostlyChoiceTests {
    private static func row(_ id: String, _ version: Int = 1, needs: [(String, Int)] = []) -> PatchEntry {
        var requires: [PatchID: [SHA256Digest]] = [:]
        for (other, version) in needs { requires[name(other)] = [installed("\(other) \(version)").fingerprint.sha256] }
        return entry(id, "\(version)", requires: requires)
    }

    private static func choice(_ rows: [PatchEntry], having current: [String] = []) -> JointChoice {
        let context = EligibilityContext(
            device: DeviceFacts(deviceID: SimulatedDevice.id, time: ManualClock.start),
            blocks: TrialBlocks()
        )
        let had = Dictionary(uniqueKeysWithValues: current.map { installed($0) }.map { ($0.patchID, $0) })
        let versions = Dictionary(grouping: rows, by: \.patchID)
        let candidates = Set(versions.keys).union(had.keys).map {
            Candidates($0, versions: versions[$0] ?? [], current: had[$0], under: context)
        }
        return JointChoice(candidates, under: context)
    }

    @Test(.timeLimit(.minutes(20)), arguments: [false, true])
    func `that is one chain falls as a whole, each link examined a few times`(_ isReversed: Bool) throws {
        let count = 1_000
        let rows = (0..<count).map { number in
            let next = isReversed ? number - 1 : number + 1
            return Self.row("p\(10_000 + number)", needs: [("p\(10_000 + next)", 1)])
        }
        let choice = Self.choice(rows)
        let decisions = choice.decisions
        #expect(decisions.count == count && decisions.allSatisfy { $0.choice == .none })
        #expect(choice.examined <= 20 * count)
        // As many reasons behind one another as there are links would be as many words for each link.
        #expect(decisions.allSatisfy { $0.passedOver.count == 1 && "\($0.passedOver[0].why)".utf8.count < 1_000 })
    }

    @Test(.timeLimit(.minutes(20))) func `that is one ring is taken as a whole`() {
        let count = 1_000
        let rows = (0..<count).map { Self.row("p\($0)", needs: [("p\(($0 + 1) % count)", 1)]) }
        let choice = Self.choice(rows)
        #expect(choice.decisions.allSatisfy { $0.taken != nil } && choice.examined <= 20 * count)
    }

    @Test(.timeLimit(.minutes(20))) func `whose one patch many require is examined for those whom a version concerns`()
    {
        let half = 500
        // Each version of the hub asks for what nobody lists, and each other patch for one version of the hub.
        let hub = (0..<half).map { Self.row("hub", half - $0, needs: [("nowhere", 1)]) }
        let others = (0..<half).map { Self.row("p\($0)", needs: [("hub", $0 + 1)]) }
        let choice = Self.choice(hub + others)
        #expect(choice.decisions.allSatisfy { $0.choice == .none })
        #expect(choice.examined <= 20 * 2 * half)
    }

    @Test func `names the nearest reasons of a chain and the one at its root`() {
        let closed = NotEligible.paused(reason: nil)
        let root = NotEligible.blocked(until: ManualClock.start)
        func chain(_ length: Int, from root: NotEligible) -> NotEligible {
            (0..<length).reduce(root) { .missing(name("p\($1)"), because: $0) }
        }
        #expect(
            chain(2, from: closed)
                == .unmet(requires: name("p1"), because: .unmet(requires: name("p0"), because: closed))
        )
        let long = chain(10_000, from: closed)
        #expect(long.isPostponed && !long.keepsOldVersion && chain(10_000, from: root).keepsOldVersion)
        let words = "\(long)"
        #expect(
            words.hasPrefix("requires a version of p9999 that this device does not get (requires a version of p9998")
        )
        #expect(words.contains("(paused)") && words.components(of: "requires") == 8)
    }
}

extension String {
    fileprivate func components(of word: String) -> Int { ranges(of: word).count }
}
