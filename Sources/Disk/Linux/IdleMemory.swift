import CLinux
import Glibc

/// Returns memory to the system while a process has little to do.
package enum IdleMemory {
    /// The delay before a process returns memory for the first time, because its start uses code that is not needed later.
    package static let afterStart = Duration.seconds(2)

    /// Gives free memory back to the system, and unmaps the pages of the program and its libraries.
    ///
    /// The system still caches those pages while it has room. All pages that are used again are mapped in about a millisecond.
    package static func releaseMemory() { patchline_give_memory_back() }

    /// The processor time that this process has used.
    package static var processorTime: Duration { .microseconds(clock()) }
}

/// Decides when a server returns memory: after an interval with little work, if there was work since the last time.
package struct IdleMemoryRule: Sendable {
    /// The time between two checks of the processor time.
    package static let interval = Duration.seconds(60)
    /// The processor time below which an interval counts as idle: one percent of a core.
    private static let idle = Duration.milliseconds(600)
    /// The processor time since the last return below which few pages can have been mapped.
    private static let unused = Duration.milliseconds(20)

    private var lastCheck: Duration
    private var lastTime: Duration

    /// - Parameter processorTime: The processor time when memory was returned after the start.
    package init(processorTime: Duration) { (lastCheck, lastTime) = (processorTime, processorTime) }

    /// Whether to return memory now, one ``interval`` after the last check.
    package mutating func shouldRelease(at processorTime: Duration) -> Bool {
        defer { lastCheck = processorTime }
        guard processorTime - lastCheck < Self.idle, processorTime - lastTime >= Self.unused else { return false }
        lastTime = processorTime
        return true
    }
}
