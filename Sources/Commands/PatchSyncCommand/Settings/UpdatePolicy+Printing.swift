import PatchChoice
import PatchFormat
import PatchSync
import CommandKit

extension UpdatePolicy {
    /// The settings that differ from the defaults, in words.
    var words: [String] {
        var words: [String] = []
        switch consent {
        case .automatic: break
        case .security:
            words.append("consent: security versions install automatically, others after `patchsync approve`")
        case .ask: words.append("consent: new versions install after `patchsync approve`")
        }
        if !windows.windows.isEmpty {
            let hours = windows.windows.map(\.description).joined(separator: "; ")
            words.append("windows: new versions start \(hours) (\(windows.zone))")
        }
        if postponeLimit != Self.standardLimit {
            words.append(
                postponeLimit == .zero
                    ? "postponing: not allowed" : "postponing: for \(DurationText(postponeLimit)) at most"
            )
        }
        return words
    }
}
