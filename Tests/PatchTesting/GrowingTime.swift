/// Tries a rule with a time-out that grows, for tests in which something must happen before it is over.
///
/// A quick machine passes at once, a slow one by a later try. A rule that does not hold fails with every time.
///
/// - Parameter attempt: returns false if the rule does not hold, or if the time was too short for this machine.
package func holdsWithGrowingTime(
    from first: Duration,
    _ attempt: (_ time: Duration) async throws -> Bool
) async throws -> Bool {
    var time = first
    while true {
        if try await attempt(time) { return true }
        guard time < .seconds(30) else { return false }
        time *= 4
    }
}
