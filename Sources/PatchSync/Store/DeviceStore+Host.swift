import PatchTrust
/// The host of the app's own.
extension DeviceStore {
    /// Whether pages are served on a host of the app's own from the next start on; their storage does not move along.
    package func useOwnHost(_ isWanted: Bool) async throws(SyncError) {
        guard isWanted != (try configuration().host != nil) else { return }
        var change = FactChanges()
        change.host = isWanted ? .set(.make()) : .forget
        try await changingConfiguration { [change] configuration in change.apply(to: &configuration) }
    }
}
