import PatchFormat

/// From when on a selection that waits may run; all its patches start together, at the latest of their moments.
package enum ActivationTime: String, Sendable, CaseIterable {
    /// A mandatory version is new in it: a running app switches by itself (E8).
    case atOnce
    /// Only scripts are new in it: a host that runs scripts may start it at once, any other treats it as ``atReload``.
    case anyTime
    /// When the app reloads, a person switches, or at the next launch (E3, M11).
    case atReload
    /// A version is new in it that must not start inside a running app (J4): neither reload nor switch activates it.
    case atNextLaunch

    /// - Parameters:
    ///   - taken: the entries that are new in the selection.
    ///   - isForced: the server chose one of them and wants it at once, as if it were mandatory.
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
