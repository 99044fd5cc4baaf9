/// The name under which pages are served.
extension DeviceStore {
    /// Serves pages under this name from the next start on; their storage does not move along.
    package func serve(under host: PagesHost) async throws(SyncError) {
        guard host != (try configuration().pages.host) else { return }
        var change = FactChanges()
        change.host = host
        try await changingConfiguration { [change] configuration in change.apply(to: &configuration) }
    }
}
