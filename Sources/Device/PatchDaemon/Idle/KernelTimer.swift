import CLinux
import Dispatch
import Glibc
import NIOConcurrencyHelpers

/// Runs jobs at their time with one kernel timer (timerfd_create(2)).
///
/// Without jobs it does not wake up.
final class KernelTimer: Sendable {
    /// Passes work on, and does not do it.
    typealias Job = @Sendable () -> Void

    private struct State {
        var jobs = LaterJobs<Job>()
        /// The time to which the timer is set.
        var isSetTo: Duration?
    }

    /// 136 years: longer than any job waits, and within the kernel's limits.
    private static let longest = Duration.seconds(1 << 32)

    private let descriptor: CInt
    /// Safe: a source may be cancelled from any thread (dispatch_source_create(3)), and no other operation uses it.
    private nonisolated(unsafe) let source: any DispatchSourceRead
    private let state = NIOLockedValueBox(State())
    private let now: @Sendable () -> Duration

    /// - Parameter advancesInSleep: Whether the clock advances while the machine sleeps.
    init(advancesInSleep: Bool) {
        let descriptor = patchline_open_timer(advancesInSleep ? 1 : 0)
        precondition(descriptor >= 0, "no timer: \(errno)")
        let clock = advancesInSleep ? CLOCK_BOOTTIME : CLOCK_MONOTONIC
        let now: @Sendable () -> Duration = {
            var time = timespec()
            unsafe clock_gettime(clock, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        self.descriptor = descriptor
        self.now = now
        // libdispatch does not check the threads of a serial queue once a second.
        let queue = DispatchQueue(label: "patchline.timer")
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        unsafe self.source = source
        source.setEventHandler { [state] in
            var count: UInt64 = 0
            _ = unsafe read(descriptor, &count, MemoryLayout.size(ofValue: count))
            let due = state.withLockedValue { state in
                state.isSetTo = nil
                let due = state.jobs.takeDue(at: now())
                Self.set(descriptor, &state, now())
                return due
            }
            for job in due { job() }
        }
        source.setCancelHandler { close(descriptor) }
        source.resume()
    }

    deinit { unsafe source.cancel() }

    func add(in pause: Duration, _ job: @escaping Job) {
        state.withLockedValue { state in
            let now = now()
            state.jobs.add(job, at: now + min(pause, Self.longest))
            Self.set(descriptor, &state, now)
        }
    }

    /// Sets the timer if another job is next.
    private static func set(_ descriptor: CInt, _ state: inout State, _ now: Duration) {
        guard let next = state.jobs.next, state.isSetTo.map({ next < $0 }) ?? true else { return }
        state.isSetTo = next
        // A time of zero would switch the timer off.
        let (seconds, attoseconds) = max(next - now, .nanoseconds(1)).components
        let failed = patchline_set_timer(descriptor, seconds, (attoseconds + 999_999_999) / 1_000_000_000)
        precondition(failed == 0, "a timer cannot be set: \(errno)")
    }
}
