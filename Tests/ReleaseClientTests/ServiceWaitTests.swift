import ReleaseClient
import Testing

@Suite("The wait before a request is made again")
struct ServiceWaitTests {
    @Test func `doubles from half a second up to a minute`() {
        let waits = (1...9).map { ServiceWait(failures: $0, asked: nil, random: 0.5)?.duration }
        #expect(
            waits == [
                .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16), .seconds(32),
                .seconds(60), .seconds(60),
            ]
        )
        #expect(ServiceWait(failures: 1_000, asked: nil, random: 0.5)?.duration == .seconds(60))
    }

    @Test func `is spread by a quarter to both sides`() {
        #expect(ServiceWait(failures: 2, asked: nil, random: 0)?.duration == .milliseconds(750))
        let longest = ServiceWait(failures: 2, asked: nil, random: 0.999_999)?.duration
        #expect(longest == .milliseconds(1_250))
    }

    @Test func `is never shorter than what the server asks for`() {
        #expect(ServiceWait(failures: 1, asked: 30, random: 0)?.duration == .seconds(30))
        #expect(ServiceWait(failures: 1, asked: 30, random: 0.5)?.duration == .milliseconds(33_750))
        #expect(ServiceWait(failures: 8, asked: 1, random: 0.5)?.duration == .seconds(60))
    }

    @Test func `is none where the server asks for more than five minutes`() {
        #expect(ServiceWait(failures: 1, asked: 300, random: 0) != nil)
        #expect(ServiceWait(failures: 1, asked: 301, random: 0) == nil)
    }
}
