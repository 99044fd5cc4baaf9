package import PatchFormat

/// The time by which expiry is judged: the latest of the clock and of what is known to be past.
///
/// The clock is read once, at the start of a refresh (TUF 5.1). A device's clock may stand in 1970; a statement that was
/// signed, or a build that was made, is past for certain.
package struct ReferenceTime: Equatable, Sendable {
    package let clock: UTCTime
    /// The latest moment that is certainly past.
    package private(set) var atLeast: UTCTime

    /// - Parameter build: when the running program was made.
    package init(clock: UTCTime, build: UTCTime = UTCTime(seconds: 0)) {
        self.clock = clock
        atLeast = build
    }

    package var value: UTCTime { max(clock, atLeast) }

    /// A statement of this time was verified.
    mutating func raise(to time: UTCTime) {
        atLeast = max(atLeast, time)
    }

    /// TUF: `expires` must be higher than the reference time.
    func check(_ header: RoleHeader, role: String) throws(TrustError) {
        let expires = header.expires
        guard expires <= value else { return }
        if clock < expires {
            throw .clockBehind(role: role, expires: expires, clock: clock, atLeast: atLeast)
        }
        guard atLeast >= expires else { throw .clockAheadOrStale(role: role, expires: expires, clock: clock) }
        throw .expired(role: role, expires: expires, at: value)
    }
}
