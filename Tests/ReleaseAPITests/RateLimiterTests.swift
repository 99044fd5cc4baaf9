import Testing

@testable import ReleaseAPI

@Suite("A rate limit")
struct RateLimiterTests {
    @Test func `lets a burst in, then as many as its rate`() {
        var limiter = RateLimiter(10, per: .seconds(60))
        for _ in 1...10 { #expect(limiter.take("a", at: .zero) == nil) }
        #expect(limiter.take("a", at: .zero) == 6)
        #expect(limiter.take("a", at: .seconds(5)) == 1)
        #expect(limiter.take("a", at: .seconds(6)) == nil)
        #expect(limiter.take("a", at: .seconds(6)) == 6)
    }

    @Test func `is each asker's own`() {
        var limiter = RateLimiter(1, per: .seconds(60))
        #expect(limiter.take("a", at: .zero) == nil)
        #expect(limiter.take("b", at: .zero) == nil)
        #expect(limiter.take("a", at: .zero) == 60)
    }

    @Test func `saves no more than one burst`() {
        var limiter = RateLimiter(3, per: .seconds(3))
        for _ in 1...3 { #expect(limiter.take("a", at: .seconds(9_999)) == nil) }
        #expect(limiter.take("a", at: .seconds(9_999)) == 1)
    }

    @Test func `of a clock that stands still or goes back gives nothing away`() {
        var limiter = RateLimiter(1, per: .seconds(60))
        #expect(limiter.take("a", at: .seconds(100)) == nil)
        #expect(limiter.take("a", at: .seconds(40)) == 60)
    }

    @Test func `holds against a flood of askers who are all new`() {
        var limiter = RateLimiter(2, per: .seconds(60))
        #expect(limiter.take("first", at: .zero) == nil)
        let refused = (1...25_000).count { limiter.take("\($0)", at: .seconds(1)) != nil }
        #expect(refused == 0)
        // It forgot the oldest, not the newest.
        #expect(limiter.take("25000", at: .seconds(1)) == nil)
        #expect(limiter.take("25000", at: .seconds(1)) != nil)
    }
}
