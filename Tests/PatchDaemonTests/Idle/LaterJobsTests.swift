import Testing

@testable import PatchDaemon

@Suite("What is to be done later")
struct LaterJobsTests {
    @Test func `comes out when it is due, the earliest first, and at the same time in the order in which it came in`() {
        var jobs = LaterJobs<String>()
        #expect(jobs.next == nil)
        for (name, seconds) in [("c", 30), ("a", 10), ("d", 30), ("b", 20), ("e", 30), ("f", 40)] {
            jobs.add(name, at: .seconds(seconds))
        }
        #expect(jobs.next == .seconds(10))
        #expect(jobs.takeDue(at: .milliseconds(9_999)) == [])
        #expect(jobs.takeDue(at: .seconds(10)) == ["a"])
        #expect(jobs.next == .seconds(20))
        #expect(jobs.takeDue(at: .seconds(39)) == ["b", "c", "d", "e"])
        #expect(jobs.takeDue(at: .seconds(1_000)) == ["f"])
        #expect(jobs.next == nil)
    }
}
