package import PatchFormat

/// What somebody decided on a device about what is new.
package enum PersonDecision: Equatable, Sendable {
    /// These may come, with what they require.
    case approved([Label])
    /// Nothing new starts before this time.
    case postponed(until: UTCTime)
    /// What waited may start again.
    case postponementEnded
}
