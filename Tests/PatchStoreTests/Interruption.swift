import PatchStore
import PatchTesting
import Testing

/// Stops an operation at each of its changes, as a kill and as a power cut would, and looks at what is left.
///
/// - Parameters:
///   - prepare: what is on the disk before, all of it durable.
///   - operation: what is stopped.
///   - check: sees each disk that may be left, and whether `operation` had returned.
func interrupt(
    after prepare: (FaultyFiles) throws -> Void,
    _ operation: (FaultyFiles) throws -> Void,
    check: (FaultyFiles, _ isDone: Bool) throws -> Void
) throws {
    let prepared = FaultyFiles()
    try prepare(prepared)
    let before = prepared.crashed(.keep)
    let whole = before.reopened()
    try operation(whole)
    try #require(whole.changes > 0)

    for change in 1...(whole.changes + 1) {
        let stopped = before.reopened(failingAtChange: change)
        let isDone = (try? operation(stopped)) != nil
        #expect(isDone == (change > whole.changes), "stopped at change \(change) of \(whole.changes)")
        try check(stopped.reopened(), isDone)
        for survival in FaultyFiles.Survival.allCases {
            try check(stopped.crashed(survival), isDone)
        }
        // Killed, started again, and done this time; then the power goes.
        let again = stopped.reopened()
        try operation(again)
        for survival in FaultyFiles.Survival.allCases {
            try check(again.crashed(survival), true)
        }
    }
}
