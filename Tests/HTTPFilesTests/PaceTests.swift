import Testing

@testable import HTTPFiles

@Suite("The pace of a client")
struct PaceTests {
    private func pace(_ steps: [(bytes: Int, seconds: Int)], rate: Int? = 1_000) -> [Bool] {
        var pace = Pace(grace: .seconds(10), rate: rate)
        return steps.map { step in
            pace.moved(step.bytes, in: .seconds(step.seconds))
            return pace.isSpent
        }
    }

    @Test func `is lost by moving nothing for the time of grace`() {
        #expect(pace([(0, 9), (0, 1)]) == [false, true])
    }

    @Test func `is lost by dripping, for no byte buys a pause`() {
        let dripped = pace(Array(repeating: (1, 1), count: 12))
        #expect(dripped.firstIndex(of: true) == 10)
    }

    @Test func `is kept at the least rate for ever, in bursts or evenly`() {
        #expect(!pace(Array(repeating: (1_000, 1), count: 10_000)).contains(true))
        #expect(!pace(Array(repeating: (9_000, 9), count: 10_000)).contains(true))
    }

    @Test func `is not saved up beyond the grace by what came fast`() {
        #expect(pace([(1_000_000_000, 0), (0, 10)]) == [false, true])
        #expect(pace([(.max, 1), (0, 9), (0, 1)]) == [false, false, true])
    }

    @Test func `without a rate is the time of the whole, whatever moves`() {
        #expect(pace([(1_000_000, 5), (1_000_000, 5)], rate: nil) == [false, true])
    }
}
