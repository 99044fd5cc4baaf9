/// A rule that a listed version must pass on a device that does not have it.
///
/// In the order in which they are asked: the first that says no is the reason that is reported.
package enum EligibilityRule: String, CaseIterable, Sendable {
    /// Nothing else is installed under this label.
    case label
    case appVersion
    /// This device can judge each rule.
    case knownRules
    case condition
    case users
    /// All of it came in this sync.
    case arrival
    /// It may come on this network.
    case network
    /// Its manifest fits the app's native part.
    case nativePart
    /// No failed trial of it stands in the way.
    case trials
    /// No failed transfers of it do.
    case transfers
    /// There is a valid dial, where one is required.
    case dial
    case pause
    /// This device's number is below the smaller of the signed ceiling and the dial.
    case rollout
    /// Somebody approved of it, where this device asks.
    case consent
    /// This device has a place, where these are counted.
    case headcount
}
