import CJavaScriptCore
import Glibc

/// How long a call may run, and by how much memory may grow meanwhile.
///
/// The engine asks after each 20 ms of the thread's own time, so a busy machine stops nobody; what stops cannot be caught by the
/// script. One native operation is looked at when it ends: a hard limit on memory is a service's `MemoryMax`.
///
/// Promises' jobs run when a call ends, and the engine gives each of them 20 ms anew. A chain of short ones is found by its
/// garbage: after each collection the thread's time is looked at, too. What makes no garbage, as `for (;;) await 0`, is not found.
///
/// That stop has two timers of the engine at once, and JavaScriptCore 2.50 may meet an assertion of its own (`VMTraps`) when both end
/// within microseconds: the process then ends, as one does whose script takes all memory at once.
@safe final class EngineLimits {
    enum Stop: Equatable {
        case time, memory
    }

    private static let tick = 0.02
    private let seconds: Double
    private let ticks: Int
    private let bytes: Int
    private var used = 0
    /// What the process had in memory when it was first asked during this call.
    private var firstBytes: Int?
    /// The thread's time at the first collection during this call.
    private var firstCollection: Double?
    private var isOut = false
    private var thread = pthread_self()
    private var group: OpaquePointer?
    /// Why the present call is being stopped.
    private var stop: Stop?

    init(time: Duration, bytes: Int) {
        seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        ticks = max(1, Int((seconds / Self.tick).rounded()))
        self.bytes = bytes
    }

    /// The outermost call begins.
    func begin() {
        used = 0
        stop = nil
        firstBytes = nil
        firstCollection = nil
        thread = pthread_self()
        guard isOut else { return }
        isOut = false
        arm()
    }

    /// Why a call of the engine was stopped that has just ended; told once.
    func takeStop() -> Stop? {
        defer { stop = nil }
        return stop
    }

    /// Asks the engine to ask; whoever owns the group keeps this alive.
    func arm(_ group: OpaquePointer) {
        unsafe self.group = group
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe JSContextGroupAddHeapFinalizer(
            group,
            { _, this in
                guard let this = unsafe this else { return }
                unsafe Unmanaged<EngineLimits>.fromOpaque(this).takeUnretainedValue().collected()
            },
            this
        )
        arm()
    }

    private func arm() {
        guard let group = unsafe group else { return }
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe JSContextGroupSetExecutionTimeLimit(
            group,
            isOut ? 0 : Self.tick,
            { _, this in
                guard let this = unsafe this else { return true }
                return unsafe Unmanaged<EngineLimits>.fromOpaque(this).takeUnretainedValue().isOver()
            },
            this
        )
    }

    private func isOver() -> Bool {
        used += 1
        if stop == nil, used >= ticks { stop = .time }
        askOfMemory()
        // No limit is left unless it is set again, stopped or not.
        isOut = false
        arm()
        return stop != nil
    }

    /// Garbage was collected: the only moment that comes in a chain of jobs.
    private func collected() {
        guard stop == nil, pthread_equal(thread, pthread_self()) != 0 else { return }
        let now = Self.threadSeconds()
        let first = firstCollection ?? now
        firstCollection = first
        if now - first > seconds { stop = .time }
        askOfMemory()
        guard stop != nil else { return }
        // Whatever job runs next has no time left.
        isOut = true
        arm()
    }

    private func askOfMemory() {
        let resident = Self.residentBytes()
        let first = firstBytes ?? resident
        firstBytes = first
        if stop == nil, resident - first > bytes { stop = .memory }
    }

    private static func threadSeconds() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The second field of /proc/self/statm, in pages.
    static func residentBytes() -> Int {
        let file = unsafe open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 128)
        let count = unsafe read(file, &text, text.count)
        let fields = text.prefix(max(0, count)).split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return 0 }
        return pages * Int(getpagesize())
    }
}
