import Glibc

/// The changes of a disk at which a test stops what it tests.
package enum Sweep {
    /// Whether every single change is wanted: `PATCHLINE_SWEEP=all` in the environment (`make sweep`).
    package static var isFull: Bool {
        unsafe getenv("PATCHLINE_SWEEP").map { unsafe String(cString: $0) } == "all"
    }

    /// How long a server may run beside a test that stops another program at all those changes.
    package static var serverDeadline: Duration { isFull ? .seconds(14_400) : .seconds(1_200) }

    /// Every change of a full sweep; else one of six of each `stride`th from `offset` on, and
    /// all of the last four, where things are committed: CI has two cores and twenty minutes.
    ///
    /// - Parameter offset: another one for each case of a table, so that together they see most of the changes.
    package static func points(of changes: Int, every stride: Int, offset: Int = 0) -> [Int] {
        if isFull { return Array(1...changes) }
        return (1...changes).filter { $0 > changes - 4 || ($0 - 1) % (6 * stride) == offset % (6 * stride) }
    }
}
