import Glibc

/// The changes of a disk at which a test stops what it tests.
package enum Sweep {
    /// Every change with `PATCHLINE_SWEEP=all` (`make sweep`); else every other of each `stride`th from `offset` on, and
    /// all of the last eight, where things are committed: CI has two cores and twenty minutes.
    ///
    /// - Parameter offset: another one for each case of a table, so that together they see most of the changes.
    package static func points(of changes: Int, every stride: Int, offset: Int = 0) -> [Int] {
        guard unsafe getenv("PATCHLINE_SWEEP").map({ unsafe String(cString: $0) }) != "all" else {
            return Array(1...changes)
        }
        return (1...changes).filter { $0 > changes - 8 || ($0 - 1) % (2 * stride) == offset % (2 * stride) }
    }
}
