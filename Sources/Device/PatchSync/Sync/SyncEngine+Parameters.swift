import PatchFetch
import PatchFormat
import PatchCrypto
import PatchTrust

extension SyncEngine {
    /// Looks for other online parameters, and for nothing else: no list is read, and no version chosen.
    ///
    /// The caller holds the store's sync lock. Each server is asked once; a look that fails is made again at the next one.
    /// - Throws: what the first server failed with, when none answered.
    package func lookForParameters() async throws(SyncError) -> ParametersUpdate {
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

    /// What two servers, asked one after the other, came to.
    fileprivate func followed(by next: ParametersUpdate) -> ParametersUpdate {
        switch (self, next) {
        case (.changed, .unchanged), (.removed, .unchanged), (.changed, .kept), (.removed, .kept): self
        default: next
        }
    }
}
