import PatchChoice
import Testing

/// M12: it stops in the background, and a process that did not run was given no time.
@Suite("The startup timer")
struct StartupTimerTests {
    /// Asks every 50 ms from `start` on; when it had ended.
    private func end(of timer: inout StartupTimer, from start: Duration, upTo limit: Duration) -> Duration? {
        var now = start
        while now <= limit {
            if timer.hasEnded(at: now) { return now }
            now += .milliseconds(50)
        }
        return nil
    }

    @Test func `ends when the app ran for its limit`() {
        var timer = StartupTimer(limit: .seconds(20))
        #expect(end(of: &timer, from: .seconds(100), upTo: .seconds(200)) == .seconds(120))
    }

    @Test func `of no length has ended as soon as anybody asks`() {
        var timer = StartupTimer(limit: .zero)
        let ended1 = timer.hasEnded(at: .seconds(5))
        #expect(ended1)
    }

    @Test func `stands still in the background, and goes on from there`() {
        var timer = StartupTimer(limit: .seconds(20))
        #expect(end(of: &timer, from: .zero, upTo: .seconds(15)) == nil)
        timer.pause(at: .seconds(15))
        #expect(end(of: &timer, from: .seconds(15), upTo: .seconds(5_000)) == nil)
        timer.resume(at: .seconds(5_000))
        timer.resume(at: .seconds(5_000))
        #expect(end(of: &timer, from: .seconds(5_000), upTo: .seconds(6_000)) == .seconds(5_005))
    }

    @Test func `ends nothing in the background, even where the time was up`() {
        var timer = StartupTimer(limit: .seconds(1))
        let ended2 = timer.hasEnded(at: .zero)
        #expect(!ended2)
        timer.pause(at: .seconds(1))
        let ended3 = timer.hasEnded(at: .seconds(2))
        #expect(!ended3)
        timer.resume(at: .seconds(3))
        let ended4 = timer.hasEnded(at: .seconds(3))
        #expect(ended4)
    }

    @Test func `wants to be asked every half second, and at its end, while it goes`() {
        var timer = StartupTimer(limit: .milliseconds(1_300))
        var asked: [Duration] = []
        var now = Duration.seconds(7)
        while !timer.hasEnded(at: now), let pause = timer.nextQuestion {
            asked.append(pause)
            now += pause
        }
        #expect(asked == [.milliseconds(500), .milliseconds(500), .milliseconds(300)])
        timer.pause(at: now)
        #expect(timer.nextQuestion == nil)
    }

    /// SIGSTOP, a laptop that sleeps, a frozen container.
    @Test(arguments: [2, 60, 86_400]) func `counts a second at most of what passed while the process was stopped`(
        seconds: Int
    ) {
        var timer = StartupTimer(limit: .seconds(20))
        #expect(end(of: &timer, from: .zero, upTo: .seconds(10)) == nil)
        let back = Duration.seconds(10 + seconds)
        #expect(end(of: &timer, from: back, upTo: back + .seconds(60)) == back + .seconds(9))
    }

    @Test func `stands still while the server has no room, and goes on from there`() {
        var timer = StartupTimer(limit: .seconds(20))
        #expect(end(of: &timer, from: .zero, upTo: .seconds(15)) == nil)
        var now = Duration.seconds(15)
        while now < .seconds(600) {
            now += .milliseconds(50)
            timer.leaveOut(until: now)
        }
        #expect(end(of: &timer, from: now, upTo: .seconds(700)) == .seconds(605))
    }

    @Test func `stands still in the background, whoever finds no room there`() {
        var timer = StartupTimer(limit: .seconds(20))
        timer.pause(at: .zero)
        timer.leaveOut(until: .seconds(5))
        timer.resume(at: .seconds(10))
        #expect(end(of: &timer, from: .seconds(10), upTo: .seconds(100)) == .seconds(30))
    }

    @Test func `counts nothing backwards`() {
        var timer = StartupTimer(limit: .seconds(20))
        _ = timer.hasEnded(at: .seconds(10))
        _ = timer.hasEnded(at: .seconds(5))
        #expect(timer.elapsed == .zero)
    }
}
