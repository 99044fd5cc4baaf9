package import PatchFormat

/// What a wire that asks every device the same may carry of a channel.
package enum GatewayChoice {
    /// The newest version that is switched on for it and that every device may take now, by list and dial; nil for none.
    ///
    /// A version on its way up waits here until its last step, and one that is paused gives way to the one behind it.
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
        // There is a dial.
        rules.dial = .optional
        guard rules.isForEveryone else { return false }
        guard let row else { return true }
        return !row.paused && row.headcount == nil && row.rollout == 10_000
    }
}
