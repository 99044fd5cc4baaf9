/// A rule that a listed version must pass on a device that does not have it.
///
/// The rules are evaluated in this order. The first one that excludes the version is the reported reason.
package enum EligibilityRule: String, CaseIterable, Sendable {
    /// The label is not installed with other content.
    case label
    case appVersion
    /// The device knows each rule.
    case knownRules
    case condition
    case users
    /// Its download did not fail in this sync, and it fits on the disk.
    case arrival
    /// It may be downloaded on this network.
    case network
    /// Its manifest matches the app's native part.
    case nativePart
    /// No failed trial blocks it.
    case trials
    /// No failed transfers block it.
    case transfers
    /// A valid dial exists, if it is required.
    case dial
    case pause
    /// This device's number is below the smaller of the signed ceiling and the dial.
    case rollout
    /// A person approved it, if this device requires approval.
    case consent
    /// This device has a place, if the number of devices is limited.
    case headcount
}
