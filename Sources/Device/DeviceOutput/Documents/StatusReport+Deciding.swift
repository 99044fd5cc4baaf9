import PatchChoice
package import PatchFormat
package import PatchSync

extension StatusReport {
    /// What people decided on this device, and what they need to know for it.
    func decidingMembers(_ policy: UpdatePolicy) -> [(String, JSON?)] {
        [
            ("policy", policy.json), ("hold", hold?.json),
            ("windowZoneFault", zoneFault.map { .text($0.description) }), ("postponed", postponed?.json),
            ("security", security.isEmpty ? nil : .array(security.map(\.json))),
        ]
    }
}

extension UpdatePolicy {
    package var json: JSON {
        .fields([
            ("consent", .text(consent.rawValue)), ("postponeLimit", .integer(Int(postponeLimit.components.seconds))),
            ("windows", .array(windows.windows.map { .text($0.description) })),
            ("windowZone", .text(windows.zone.description)),
        ])
    }
}
