import DeviceTesting
import PatchFormat
import Testing

@testable import PatchChoice

@Suite("The choice while bytes cost something")
struct MeteredChoiceTests {
    private func version(
        _ id: String,
        _ bytes: Int?,
        mandatory: Bool = false,
        requires: [String] = []
    ) -> MeteredChoice.Candidate {
        MeteredChoice.Candidate(
            patchID: name(id),
            bytes: bytes,
            isMandatory: mandatory,
            requires: Set(requires.map { name($0) })
        )
    }

    /// What waits, and why.
    private func waiting(_ allowance: Int, _ candidates: MeteredChoice.Candidate...) -> [String: MeteredWait] {
        let waiting = MeteredChoice(candidates, allowance: allowance).waiting
        return Dictionary(uniqueKeysWithValues: waiting.map { ($0.key.text, $0.value) })
    }

    @Test func `takes what is mandatory, whatever it costs and whoever knows that`() {
        #expect(waiting(0, version("a", 5_000_000, mandatory: true), version("b", nil, mandatory: true)) == [:])
    }

    @Test func `takes up to the last byte of the allowance, and not one more`() {
        #expect(waiting(100, version("a", 100)) == [:])
        #expect(waiting(100, version("a", 101)) == ["a": MeteredWait(cost: 101, left: 100)])
        #expect(waiting(100, version("a", 60), version("b", 40)) == [:])
        #expect(waiting(100, version("a", 60), version("b", 41)) == ["a": MeteredWait(cost: 60, left: 59)])
        #expect(waiting(0, version("a", 0)) == [:])
        #expect(waiting(0, version("a", 1)) == ["a": MeteredWait(cost: 1, left: 0)])
    }

    @Test func `takes the cheapest first, of equals the first by id`() {
        #expect(
            waiting(100, version("a", 90), version("b", 20), version("c", 80)) == ["a": MeteredWait(cost: 90, left: 0)]
        )
        #expect(waiting(50, version("b", 50), version("a", 50)) == ["b": MeteredWait(cost: 50, left: 0)])
    }

    @Test func `lets what is mandatory use up the allowance first`() {
        #expect(
            waiting(100, version("a", 70, mandatory: true), version("b", 31)) == ["b": MeteredWait(cost: 31, left: 30)]
        )
        #expect(waiting(100, version("a", 170, mandatory: true), version("b", 0)) == [:])
        #expect(
            waiting(100, version("a", nil, mandatory: true), version("b", 1)) == ["b": MeteredWait(cost: 1, left: 0)]
        )
    }

    @Test func `puts off what nobody knows the cost of, and does not guess`() {
        #expect(waiting(.max, version("a", nil), version("b", 3)) == ["a": MeteredWait(cost: nil, left: .max - 3)])
    }

    @Test func `takes what requires one another together, for its cost together, or not at all`() {
        let group = [version("a", 60, requires: ["b"]), version("b", 40), version("c", 1, requires: ["b"])]
        #expect(MeteredChoice(group, allowance: 101).waiting == [:])
        let ids: [PatchID] = group.map(\.patchID)
        #expect(
            MeteredChoice(group, allowance: 100).waiting == [
                ids[0]: MeteredWait(cost: 101, left: 100, together: [ids[1], ids[2]]),
                ids[1]: MeteredWait(cost: 101, left: 100, together: [ids[0], ids[2]]),
                ids[2]: MeteredWait(cost: 101, left: 100, together: [ids[0], ids[1]]),
            ]
        )
        // One of which nobody knows, and all of them wait.
        #expect(waiting(.max, version("a", 1, requires: ["b"]), version("b", nil)).keys.sorted() == ["a", "b"])
    }

    @Test func `takes with what is mandatory all that it requires, and nothing that requires it`() {
        #expect(
            waiting(
                0,
                version("a", 60, mandatory: true, requires: ["b"]),
                version("b", 40, requires: ["c"]),
                version("c", nil),
                version("d", 7, requires: ["a"])
            ) == ["d": MeteredWait(cost: 7, left: 0)]
        )
    }

    @Test func `heeds no requirement that nothing new has to meet`() {
        #expect(waiting(10, version("a", 10, requires: ["installed"])) == [:])
    }
}
