/// Receives the amount of finished work, from any thread.
package typealias Progress = @Sendable (_ done: Int) -> Void

/// Called when long work begins, with its number of parts.
package typealias ProgressStart = @Sendable (_ total: Int) -> Progress
