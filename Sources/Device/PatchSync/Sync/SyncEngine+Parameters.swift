import PatchFetch
import PatchFormat
import PatchCrypto
import PatchTrust

extension SyncEngine {
    /// Looks for changed online parameters only.
    ///
    /// No list is read, and no version is chosen.
    ///
    /// The caller holds the store's sync lock. Each server is asked once. A failed look is repeated with the next server.
    ///
    /// - Throws: The first server's error if no server answers.
    package func checkParameters() async throws(SyncError) -> ParametersUpdate {
        let channel = configuration.channel
        var found: ParametersUpdate?
        var first: SyncError?
        for source in sources.inOrder {
            let refresh = MetadataRefresh(of: store, fetcher: source.fetcher, deadlines: deadlines)
            do throws(SyncError) {
                let refreshed = try await refresh.refresh(at: ReferenceTime(clock: now(), build: build))
                var repository = refreshed.repository
                let update = await refresh.parameters(app: configuration.app, in: store, of: channel, &repository)
                found = found?.followed(by: update) ?? update
                if refreshed.staleMirror == nil, !update.isKept { break }
            } catch {
                if error.isOwn { throw error }
                first = first ?? error
            }
        }
        if let found { return found }
        guard let first else { preconditionFailure("there is at least one server") }
        throw first
    }
}

extension ParametersUpdate {
    fileprivate var isKept: Bool {
        if case .kept = self { true } else { false }
    }

    /// The combined result of two servers that were asked one after the other.
    fileprivate func followed(by next: ParametersUpdate) -> ParametersUpdate {
        switch (self, next) {
        case (.changed, .unchanged), (.removed, .unchanged), (.changed, .kept), (.removed, .kept): self
        default: next
        }
    }
}
