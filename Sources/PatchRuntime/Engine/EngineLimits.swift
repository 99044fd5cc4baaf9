import CJavaScriptCore
import Glibc

/// How long a call may run, and by how much memory may grow meanwhile.
///
/// The engine asks after each 20 ms of the thread's own time, so a busy machine stops nobody; what stops cannot be caught by the
/// script. One native operation is looked at when it ends: a hard limit on memory is a service's `MemoryMax`.
@safe final class EngineLimits {
    enum Stop: Equatable {
        case time, memory
    }

    private static let tick = 0.02
    private let ticks: Int
    private let bytes: Int
    private var used = 0
    /// What the process had in memory at the first tick of this call.
    private var first = 0
    private var group: OpaquePointer?
    /// Why the present call was stopped.
    private(set) var stop: Stop?

    init(time: Duration, bytes: Int) {
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        ticks = max(1, Int((seconds / Self.tick).rounded()))
        self.bytes = bytes
    }

    /// The outermost call begins.
    func begin() {
        used = 0
        stop = nil
    }

    /// Asks the engine to ask; whoever owns the group keeps this alive.
    func arm(_ group: OpaquePointer) {
        unsafe self.group = group
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe JSContextGroupSetExecutionTimeLimit(
            group,
            Self.tick,
            { _, this in
                guard let this = unsafe this else { return true }
                return unsafe Unmanaged<EngineLimits>.fromOpaque(this).takeUnretainedValue().isOver()
            },
            this
        )
    }

    private func isOver() -> Bool {
        used += 1
        let resident = Self.residentBytes()
        if used == 1 { first = resident }
        if stop == nil, resident - first > bytes { stop = .memory }
        if stop == nil, used >= ticks { stop = .time }
        // No limit is left unless it is set again, stopped or not.
        if let group = unsafe group { unsafe arm(group) }
        return stop != nil
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
