package import PatchTrust

/// The name under which the pages of an app are served on this device alone: `LABEL.localhost`, which browsers resolve to
/// loopback by themselves (RFC 6761 §6.3).
///
/// A secret of the store: a host's cookies go to each of its ports, so that whoever knew the name could lead a browser to
/// a port of theirs under it.
package struct HostLabel: RandomText {
    package let text: String

    package init(_ digits: RandomDigits) {
        text = digits.text
    }

    /// What stands in a URL and in `Host`, without the port.
    package var host: String { "\(text).localhost" }
}

extension DeviceStore {
    /// Whether pages are served on a host of the app's own from the next start on; their storage does not move along.
    package func useOwnHost(_ isWanted: Bool) async throws(SyncError) {
        guard isWanted != (try configuration().host != nil) else { return }
        var change = FactChanges()
        change.host = isWanted ? .set(.make()) : .forget
        try await changingConfiguration { [change] configuration in change.apply(to: &configuration) }
    }
}
