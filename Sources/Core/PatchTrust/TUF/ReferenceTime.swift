package import PatchFormat

/// The time that expiry is compared with: the latest of the clock and all moments known to be past.
///
/// The clock is read once, at the start of a refresh (TUF 5.1). A device's clock may show 1970, but the time of a signed statement
/// or of the program's build is certainly past.
package struct ReferenceTime: Equatable, Sendable {
    package let clock: UTCTime
    private let build: UTCTime
    /// The signing time of the newest verified timestamp.
    private let signedAt: UTCTime?

    /// - Parameter build: when the running program was built.
    package init(clock: UTCTime, build: UTCTime = UTCTime(seconds: 0)) {
        self.init(clock: clock, build: build, signedAt: nil)
    }

    private init(clock: UTCTime, build: UTCTime, signedAt: UTCTime?) {
        (self.clock, self.build, self.signedAt) = (clock, build, signedAt)
    }

    /// The latest moment that is certainly past.
    package var atLeast: UTCTime { signedAt.map { max($0, build) } ?? build }

    package var value: UTCTime { max(clock, atLeast) }

    /// Returns the time after a newer timestamp was verified.
    ///
    /// The time of the older timestamp no longer counts, because its signer may have had a wrong clock or a stolen key.
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
