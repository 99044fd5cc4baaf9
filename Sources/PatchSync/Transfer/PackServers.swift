import PatchFetch
/// Which of the servers are asked for packs: each, until it shows that it has none, or none that is right.
struct PackServers {
    private var passedOver: Set<String> = []

    /// The one to ask now; nil where objects have to come one by one.
    func first(of sources: [Source]) -> Source? {
        sources.first { !passedOver.contains($0.name) }
    }

    /// What is to be made of a run that ended early.
    ///
    /// A server that brought nothing of it is not asked for packs again in this sync; the objects themselves may be there.
    mutating func judge(_ source: Source, _ outcome: PackOutcome, in sources: Sources) {
        guard let error = outcome.error, !error.isOwn else { return }
        switch error {
        case .fetch(let fetch) where fetch.isWorthRetrying:
            sources.putLast(source)
            if outcome.parts.isEmpty { passedOver.insert(source.name) }
        case .fetch(let fetch) where !fetch.isLie: passedOver.insert(source.name)
        default:
            passedOver.insert(source.name)
            sources.note(MirrorFault(server: source.name, wrong: .lied(error)))
        }
    }
}
