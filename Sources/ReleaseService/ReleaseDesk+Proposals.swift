package import PatchFormat
import PatchServer
import PatchTrust
package import ServerRecords

extension ReleaseDesk {
    /// Of one channel that wait at a time.
    package static let proposalLimit = 100

    /// Keeps a change that makes sense now until somebody has signed it.
    package func propose(
        _ change: ProposedChange,
        note: String?,
        for channel: ChannelName,
        in app: AppID,
        by actor: Actor
    ) async throws(DeskError) -> Proposal {
        let open = try await proposals(of: channel, in: app).filter { $0.state == .open }
        guard open.count < Self.proposalLimit else { throw .proposal(.tooMany(limit: Self.proposalLimit)) }
        let (checked, version) = try await looking(app) { (repository) throws(ServerError) in
            try Self.check(change, of: channel, in: repository)
        }
        let proposal = Proposal(
            id: Self.newID(),
            app: app,
            channel: channel,
            change: change,
            note: note,
            created: records.now(),
            actor: actor,
            roleVersion: version,
            difference: try checked.unfolded.difference
        )
        try await reading { () async throws(RecordError) in
            try await records.commit(
                [.insert(proposal.key, proposal.json)],
                noting: AuditEntry.Event(
                    "proposal.create",
                    by: actor,
                    app: app,
                    channel: channel,
                    after: proposal.audited
                )
            )
        }
        return proposal
    }

    private static func check(
        _ change: ProposedChange,
        of channel: ChannelName,
        in repository: AppRepository
    ) throws(ServerError) -> (Result<ProposalCheck, ProposalFault>, Int) {
        let state = try PublishedState(of: repository)
        guard state.targets.delegation(to: channel.text) != nil else { return (.failure(.notDelegated(channel)), 0) }
        let listing = try repository.listing()
        var hasRelease = false
        if case .rollBack(let version) = change { hasRelease = try repository.hasRole(of: channel, version: version) }
        do throws(ProposalFault) {
            let check = try ProposalCheck(change, of: channel, in: listing, hasRelease: hasRelease)
            return (.success(check), state.version(of: channel))
        } catch { return (.failure(error), 0) }
    }

    /// All of a channel, those that are done too, in no order that means anything.
    package func proposals(of channel: ChannelName, in app: AppID) async throws(DeskError) -> [Proposal] {
        try await reading { () async throws(RecordError) in
            let range = RecordRange(Proposal.collection, prefix: Proposal.prefix(channel, app), limit: 10_000)
            var proposals: [Proposal] = []
            for record in try await records.store.records(range) { proposals.append(try Proposal(record)) }
            return proposals.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
        }
    }

    package func proposal(_ id: ProposalID, of channel: ChannelName, in app: AppID) async throws(DeskError) -> Proposal
    {
        try await found(id, of: channel, in: app).proposal
    }

    /// Forgets a proposal that was not published.
    package func removeProposal(
        _ id: ProposalID,
        of channel: ChannelName,
        in app: AppID,
        by actor: Actor
    ) async throws(DeskError) {
        try await turn.taken { () async throws(DeskError) in
            let (record, proposal) = try await found(id, of: channel, in: app)
            guard proposal.state == .open else { throw .proposal(.done) }
            try await reading { () async throws(RecordError) in
                try await records.commit(
                    [.remove(record)],
                    noting: AuditEntry.Event(
                        "proposal.remove",
                        by: actor,
                        app: app,
                        channel: channel,
                        before: proposal.audited
                    )
                )
            }
        }
    }

    /// That a published release has carried a proposal out: to be committed with its history.
    func ending(_ entry: HistoryEntry) async throws(RecordError) -> [RecordChange] {
        guard let id = entry.proposal else { return [] }
        guard let record = try await records.store.record(Proposal.key(id, entry.channel, entry.app)) else { return [] }
        let proposal = try Proposal(record)
        guard proposal.state == .open else { return [] }
        return [.replace(record, with: proposal.done(as: entry.roleVersion, at: entry.published).json)]
    }

    private func found(
        _ id: ProposalID,
        of channel: ChannelName,
        in app: AppID
    ) async throws(DeskError) -> (record: Record, proposal: Proposal) {
        let found = try await reading { () async throws(RecordError) in
            try await records.store.record(Proposal.key(id, channel, app)).map { (record) throws(RecordError) in
                (record, try Proposal(record))
            }
        }
        guard let found else { throw .proposal(.unknown) }
        return found
    }

    private static func newID() -> ProposalID {
        guard let id = ProposalID(Hex.text(SecureRandom.bytes(8))) else {
            preconditionFailure("eight bytes are 16 digits")
        }
        return id
    }
}

extension Result where Failure == ProposalFault {
    fileprivate var unfolded: Success {
        get throws(DeskError) {
            do throws(ProposalFault) { return try get() } catch { throw .proposal(error) }
        }
    }
}
