import CLinux
import Glibc

/// Memory that a process gives back to the system while it has little to do.
package enum IdleMemory {
    /// How long after its start a process gives memory back for the first time: its start uses code that nothing needs later.
    package static let afterStart = Duration.seconds(2)

    /// Returns free memory, and unmaps the pages of the program and its libraries.
    ///
    /// The system still caches those pages while it has room. All that are used again are mapped in about a millisecond.
    package static func giveBack() { patchline_give_memory_back() }

    /// The processor time that this process has used.
    package static var processorTime: Duration { .microseconds(clock()) }
}

/// Decides when a server gives memory back: after an interval with little work, if there was work since the last time.
package struct IdleMemoryRule: Sendable {
    /// The time between two looks at the processor time.
    package static let interval = Duration.seconds(60)
    /// The processor time below which an interval was idle: one percent of a core.
    private static let idle = Duration.milliseconds(600)
    /// The processor time since the last time below which few pages can have been mapped.
    private static let unused = Duration.milliseconds(20)

    private var lastLook: Duration
    private var lastTime: Duration

    /// - Parameter processorTime: the processor time when memory was given back after the start.
    package init(processorTime: Duration) { (lastLook, lastTime) = (processorTime, processorTime) }

    /// Whether to give memory back now, one ``interval`` after the last look.
    package mutating func givesBack(at processorTime: Duration) -> Bool {
        defer { lastLook = processorTime }
        guard processorTime - lastLook < Self.idle, processorTime - lastTime >= Self.unused else { return false }
        lastTime = processorTime
        return true
    }
}
