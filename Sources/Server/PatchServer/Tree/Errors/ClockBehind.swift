package import PatchFormat

/// A clock that shows a time that is certainly past.
///
/// The server signs nothing by it: such signatures would have expired for every device. A machine without a battery-backed clock
/// starts in 1970.
package struct ClockBehind: Hashable, Sendable {
    /// The proof that a later time has passed.
    package enum Evidence: Hashable, Sendable {
        /// The time when the newest timestamp was signed.
        case signature
        /// The time when the running program was built.
        case build
    }

    /// How far a clock may be set back by a time service before it counts as wrong.
    ///
    /// Signatures made meanwhile carry the time of the newest one.
    package static let slack = Duration.minutes(1)

    package let clock: UTCTime
    /// The latest time that is certainly past.
    package let atLeast: UTCTime
    package let evidence: Evidence

    /// Nil if the clock may be right.
    ///
    /// - Parameter signedAt: When the newest timestamp was signed, or nil if that is unknown.
    package init?(clock: UTCTime, signedAt: UTCTime?, build: UTCTime) {
        let signed = signedAt.map { $0 >= build } ?? false
        let atLeast = signed ? signedAt ?? build : build
        guard clock.adding(Self.slack) < atLeast else { return nil }
        (self.clock, self.atLeast, evidence) = (clock, atLeast, signed ? .signature : .build)
    }
}

extension ClockBehind: CustomStringConvertible {
    package var description: String {
        let past =
            switch evidence {
            case .signature: "the newest timestamp was signed at \(atLeast)"
            case .build: "this program was built at \(atLeast)"
            }
        return "the clock is behind: it shows \(clock), and \(past)"
    }

    /// The advice to the operator.
    package var hint: String {
        switch evidence {
        case .signature:
            "set the clock; if it is right now and was ahead before, patchsrv refresh --accept-clock continues by it"
        case .build: "set the clock"
        }
    }
}
