package import PatchFormat

/// Selects the version of a channel that a wire offers if it answers every device alike.
package enum GatewayChoice {
    /// The newest version enabled for `gateway` that the list and the dial open to every device, or nil.
    ///
    /// A version whose rollout is in progress is excluded until its last step. While a version is paused, the next older one is
    /// offered.
    package static func entry(for gateway: Gateway, among entries: [PatchEntry], dial: Dial) -> PatchEntry? {
        entries.first { entry in
            entry.gateways.contains(gateway) && entry.requires.isEmpty
                && entry.isForEveryone(by: dial.row(entry.patchID, entry.fingerprint.sha256))
        }
    }
}

extension PatchEntry {
    fileprivate func isForEveryone(by row: Dial.Row?) -> Bool {
        var rules = rules
        // This server has a dial.
        rules.dial = .optional
        guard rules.isForEveryone else { return false }
        guard let row else { return true }
        return !row.paused && row.headcount == nil && row.rollout == 10_000
    }
}
