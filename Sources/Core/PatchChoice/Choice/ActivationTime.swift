import PatchFormat

/// When a pending selection may start.
///
/// All its patches start together, at the latest of their times.
package enum ActivationTime: String, Sendable, CaseIterable {
    /// It contains a new mandatory version: a running app switches by itself (E8).
    case atOnce
    /// Only scripts are new in it: a host that runs scripts may start it at once. Other hosts treat it as ``atReload``.
    case anyTime
    /// When the app reloads, when a person switches, or at the next launch (E3, M11).
    case atReload
    /// It contains a new version that must not start inside a running app (J4): only a launch activates it.
    case atNextLaunch

    /// - Parameters:
    ///   - taken: The entries that are new in the selection.
    ///   - isForced: Whether the server chose one of them and requires it at once, as if it were mandatory.
    init(taken: [PatchEntry], isForced: Bool = false) {
        if taken.contains(where: \.rules.runAtNextLaunch) {
            self = .atNextLaunch
        } else if isForced || taken.contains(where: \.rules.mandatory) {
            self = .atOnce
        } else {
            let onlyScripts = !taken.isEmpty && taken.allSatisfy { $0.kind == .script }
            self = onlyScripts ? .anyTime : .atReload
        }
    }
}
