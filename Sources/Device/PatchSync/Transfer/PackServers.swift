import PatchFetch

/// Which of the servers are asked for packs: each once for each bundle, until it shows that it has none, or none that is right.
struct PackServers {
    private struct Try: Hashable {
        let bundle: Int
        let server: String
    }

    private var passedOver: Set<String> = []
    private var tried: Set<Try> = []

    /// The one to ask now for a bundle's pack; nil where its objects have to come one by one.
    func first(of sources: [Source], for bundle: Int) -> Source? {
        sources.first { source in
            !passedOver.contains(source.name) && !tried.contains(Try(bundle: bundle, server: source.name))
        }
    }

    /// The server is not asked for the pack of this bundle again.
    mutating func doesNotContinue(_ transfer: PackTransfer) {
        tried.insert(Try(bundle: transfer.pack.bundle, server: transfer.source.name))
    }

    /// What is to be made of a pack of which not all came.
    ///
    /// A server that brought nothing of it is not asked for packs again in this sync; the objects themselves may be there.
    ///
    /// - Parameter continues: whether the next try asks for nothing that arrived in this one.
    mutating func judge(
        _ transfer: PackTransfer,
        _ error: SyncError,
        broughtSome: Bool,
        continues: Bool,
        in sources: Sources
    ) {
        guard !error.isOwn else { return }
        let source = transfer.source
        if !continues || error.fetchError?.isNetwork != true { doesNotContinue(transfer) }
        switch error {
        case .fetch(let fetch) where fetch.isWorthRetrying:
            sources.putLast(source)
            if !broughtSome { passedOver.insert(source.name) }
        case .fetch(let fetch) where !fetch.isLie: passedOver.insert(source.name)
        default:
            passedOver.insert(source.name)
            sources.note(MirrorFault(server: source.name, wrong: .lied(error)))
        }
    }
}
