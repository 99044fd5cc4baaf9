package import PatchFormat

/// The time by which expiry is judged: the latest of the clock and of what is known to be past.
///
/// The clock is read once, at the start of a refresh (TUF 5.1). A device's clock may stand in 1970; a statement that was
/// signed, or a build that was made, is past for certain.
package struct ReferenceTime: Equatable, Sendable {
    package let clock: UTCTime
    private let build: UTCTime
    /// Of the newest timestamp that was verified.
    private let signedAt: UTCTime?

    /// - Parameter build: when the running program was made.
    package init(clock: UTCTime, build: UTCTime = UTCTime(seconds: 0)) {
        self.init(clock: clock, build: build, signedAt: nil)
    }

    private init(clock: UTCTime, build: UTCTime, signedAt: UTCTime?) {
        (self.clock, self.build, self.signedAt) = (clock, build, signedAt)
    }

    /// The latest moment that is certainly past.
    package var atLeast: UTCTime { signedAt.map { max($0, build) } ?? build }

    package var value: UTCTime { max(clock, atLeast) }

    /// A newer timestamp was verified: what an older one said of the time counts no more, for its signer may have been
    /// wrong, or a thief.
    package func noting(signedAt time: UTCTime?) -> ReferenceTime {
        ReferenceTime(clock: clock, build: build, signedAt: time)
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
