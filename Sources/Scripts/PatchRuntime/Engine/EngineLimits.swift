import CJavaScriptCore
import Glibc

/// Limits the time of a call, and the growth of the process's memory during it.
///
/// The engine checks after every 20 ms of the thread's own CPU time, so a busy machine does not stop a call. Scripts cannot catch a
/// stop. A single native operation is checked only when it ends: for a hard memory limit, use the service's `MemoryMax`.
///
/// The jobs of promises run when a call ends, and each of them starts with a new 20 ms. A chain of short jobs is detected by its
/// garbage: the thread's time is also checked after each collection. A chain without garbage, such as `for (;;) await 0`, is not
/// detected.
///
/// This kind of stop uses two timers of the engine at once. If both expire within microseconds, JavaScriptCore 2.50 may fail an
/// assertion of its own (`VMTraps`). The process then ends, as it does if a script allocates all memory at once.
@safe final class EngineLimits {
    enum Stop: Equatable {
        case time, memory
    }

    private static let tick = 0.02
    private let seconds: Double
    private let ticks: Int
    private let bytes: Int
    private var used = 0
    /// The memory of the process at the first check during this call.
    private var firstBytes: Int?
    /// The thread's time at the first collection during this call.
    private var firstCollection: Double?
    private var isOut = false
    private var thread = pthread_self()
    private var group: OpaquePointer?
    /// Why the current call is being stopped.
    private var stop: Stop?

    init(time: Duration, bytes: Int) {
        seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        ticks = max(1, Int((seconds / Self.tick).rounded()))
        self.bytes = bytes
    }

    /// Starts the limits of an outermost call.
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

    /// Why the call that has just ended was stopped.
    ///
    /// Resets the reason.
    func takeStop() -> Stop? {
        defer { stop = nil }
        return stop
    }

    /// Installs the checks in the engine.
    ///
    /// The owner of the group must keep this object alive.
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
        // The engine removes a limit when it fires, whether or not the call stops, so it is set again.
        isOut = false
        arm()
        return stop != nil
    }

    /// Called after each collection, which is the only opportunity to check during a chain of jobs.
    private func collected() {
        guard stop == nil, pthread_equal(thread, pthread_self()) != 0 else { return }
        let now = Self.threadSeconds()
        let first = firstCollection ?? now
        firstCollection = first
        if now - first > seconds { stop = .time }
        askOfMemory()
        guard stop != nil else { return }
        // A limit of zero stops the next job.
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

    /// The second field of /proc/self/statm, which is in pages.
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
