import HTTPCore
import Testing

@testable import PatchFetch

@Suite("A request that failed")
struct AttemptTests {
    private let broken = FetchError.connection("x", reason: "unplugged")

    private func waits(_ errors: [FetchError], count: Int, progress: (Int) -> Bool = { _ in false }) -> [Attempts.Next]
    {
        var attempts = Attempts(Deadlines())
        return (0..<count).map { attempts.failed(errors, progress: progress($0), random: 0.5) }
    }

    @Test func `is made again after 0.1, 0.1, 4.84 and 10.648 seconds, and then no more`() {
        let expected: [Attempts.Next] = [
            .again(after: .milliseconds(100)), .again(after: .milliseconds(100)), .again(after: .seconds(4.84)),
            .again(after: .seconds(10.648)), .giveUp,
        ]
        for (found, expected) in zip(waits([broken], count: 5), expected) {
            guard case (.again(let found), .again(let expected)) = (found, expected) else {
                #expect(found == expected)
                continue
            }
            #expect(abs((found - expected) / .milliseconds(1)) < 1)
        }
    }

    @Test func `starts its count anew where bytes moved forward`() {
        let all = waits([broken], count: 100) { _ in true }
        #expect(all.allSatisfy { $0 == .again(after: .milliseconds(100)) })
    }

    @Test(arguments: [
        FetchError.notFound("x"), .redirected("x", to: "y"), .tooLarge("x", limit: 1), .timedOut("x"), .cancelled,
        .status("x", code: 418), .encoded("x", as: "gzip"), .tls(.notTLS(host: "h")),
        .answer("x", .status(42)),
    ])
    func `is not made again where trying does not help`(error: FetchError) {
        #expect(waits([error], count: 1) == [.giveUp])
    }

    @Test(arguments: [
        FetchError.short("x"), .stalled("x"), .connection("x", reason: ""), .noAddress(host: "h"),
        .status("x", code: 500),
        .status("x", code: 503), .status("x", code: 429), .status("x", code: 408), .webPage("x"),
    ])
    func `is made again where the network or a server's trouble is at fault`(error: FetchError) {
        #expect(waits([error], count: 1) == [.again(after: .milliseconds(100))])
    }

    @Test func `waits as long as the server asks, up to a limit`() {
        let busy = { FetchError.busy("x", code: 503, retryAfter: RetryAfter($0)) }
        #expect(waits([busy(7)], count: 1) == [.again(after: .seconds(7))])
        #expect(waits([busy(0)], count: 1) == [.again(after: .milliseconds(100))])
        for long in [86_400, 1 << 31, Int.max] {
            #expect(waits([busy(long)], count: 1) == [.again(after: .seconds(60))])
        }
    }
}
