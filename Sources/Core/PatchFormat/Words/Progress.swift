/// Hears how much of long work is done, from any thread.
package typealias Progress = @Sendable (_ done: Int) -> Void

/// Hears that long work begins, and of how many parts.
package typealias ProgressStart = @Sendable (_ total: Int) -> Progress
