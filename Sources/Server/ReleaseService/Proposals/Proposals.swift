package import PatchFormat
import PatchServer
import PatchCrypto
import PatchTrust
package import ServerRecords

/// Proposed changes, which a release carries out.
package struct Proposals: Sendable {
    let operations: ReleaseOperations

    package init(_ operations: ReleaseOperations) {
        self.operations = operations
    }

    /// The limit of open proposals of one channel.
    package static let limit = 100
    /// The limit of proposals of one channel that are read together, including closed ones.
    private static let proposalsLimit = 100_000
    /// How many releases are listed if the operator names none.
    private static let olderShown = 10
    /// How many of the newest releases are searched for the one that listed a version.
    private static let releasesSearched = 1_000

    /// Stores a currently valid change until it is signed.
    package func propose(
        _ change: ProposedChange,
        note: String?,
        for channel: ChannelName,
        in app: AppID,
        by actor: Actor
    ) async throws(OperationError) -> Proposal {
        try await operations.turn.taken(orElse: OperationError.busy) { () async throws(OperationError) in
            guard try await open(of: channel, in: app).count < Self.limit else {
                throw .proposal(.tooMany(limit: Self.limit))
            }
            let earlier = try await lastListing(of: change, in: channel, of: app)
            let (checked, version) = try await operations.looking(app) { (repository) throws(ServerError) in
                try Self.check(change, of: channel, in: repository, earlier: earlier)
            }
            let check = try checked.unfolded
            let proposal = Proposal(
                id: Self.newID(at: operations.records.now()),
                app: app,
                channel: channel,
                change: change,
                note: note,
                created: operations.records.now(),
                actor: actor,
                roleVersion: version,
                difference: check.difference,
                listedIn: check.listedIn
            )
            try await operations.reading { () async throws(RecordError) in
                try await operations.records.commit(
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
    }

    /// The newest release of the channel that listed the subject of a withdrawal; nil for other changes.
    private func lastListing(
        of change: ProposedChange,
        in channel: ChannelName,
        of app: AppID
    ) async throws(OperationError) -> Int? {
        guard case .withdraw(let id, let version) = change else { return nil }
        var (below, left): (Int?, Int) = (nil, Self.releasesSearched)
        while left > 0 {
            let page = try await History(operations).page(of: channel, in: app, below: below, limit: Self.olderShown)
            let found = page.entries.first { entry in
                entry.patches.contains { $0.label.patchID == id && (version == nil || $0.label.version == version) }
            }
            if let found { return found.roleVersion }
            guard let next = page.next else { return nil }
            (below, left) = (next, left - page.entries.count)
        }
        return nil
    }

    private static func check(
        _ change: ProposedChange,
        of channel: ChannelName,
        in repository: AppRepository,
        earlier: Int?
    ) throws(ServerError) -> (Result<ProposalCheck, ProposalFault>, Int) {
        let state = try PublishedState(of: repository)
        guard state.targets.delegation(to: channel.text) != nil else { return (.failure(.notDelegated(channel)), 0) }
        let listing = try AppListing(of: repository)
        var (hasRelease, older): (Bool, [Int]) = (false, [])
        if case .rollBack(let version) = change {
            hasRelease = try repository.hasRole(of: channel, version: version)
            older = try repository.roles(of: channel, below: state.version(of: channel), limit: Self.olderShown)
        }
        let listed = try earlier.map { (version) throws(ServerError) in
            ProposalCheck.EarlierListing(
                version: version,
                isKept: try repository.hasRole(of: channel, version: version)
            )
        }
        do throws(ProposalFault) {
            let check = try ProposalCheck(
                change,
                of: channel,
                in: listing,
                hasRelease: hasRelease,
                older: older,
                earlier: listed
            )
            return (.success(check), state.version(of: channel))
        } catch { return (.failure(error), 0) }
    }

    /// The proposals of a channel by id, the oldest first, including closed ones.
    ///
    /// - Parameter id: only those after this one.
    /// - Returns: at most ``ServerRecords/pageBytes`` of them, and the id after which the next page begins.
    package func page(
        of channel: ChannelName,
        in app: AppID,
        after id: ProposalID?,
        limit: Int
    ) async throws(OperationError) -> (proposals: [Proposal], next: ProposalID?) {
        try await operations.reading { () async throws(RecordError) in
            let page = try await operations.records.page(
                RecordRange(
                    Proposal.collection,
                    prefix: Proposal.prefix(channel, app),
                    after: id.map { Proposal.key($0, channel, app).name },
                    limit: limit,
                    bytes: ServerRecords.pageBytes
                )
            )
            var proposals: [Proposal] = []
            for record in page.records { proposals.append(try Proposal(record)) }
            return (proposals, page.hasMore ? proposals.last?.id : nil)
        }
    }

    /// The proposals that were neither carried out nor removed.
    func open(of channel: ChannelName, in app: AppID) async throws(OperationError) -> [Proposal] {
        try await all(of: channel, in: app).filter { $0.state == .open }
    }

    /// All proposals of a channel, the oldest first, including closed ones.
    package func all(of channel: ChannelName, in app: AppID) async throws(OperationError) -> [Proposal] {
        var page = try await self.page(of: channel, in: app, after: nil, limit: Self.limit)
        var all = page.proposals
        while let next = page.next {
            page = try await self.page(of: channel, in: app, after: next, limit: Self.limit)
            all += page.proposals
        }
        return all
    }

    package func proposal(_ id: ProposalID, of channel: ChannelName, in app: AppID) async throws(OperationError)
        -> Proposal
    {
        try await found(id, of: channel, in: app).proposal
    }

    /// Removes a proposal that was not published.
    package func remove(
        _ id: ProposalID,
        of channel: ChannelName,
        in app: AppID,
        by actor: Actor
    ) async throws(OperationError) {
        try await operations.turn.taken { () async throws(OperationError) in
            let (record, proposal) = try await found(id, of: channel, in: app)
            guard proposal.state == .open else { throw .proposal(.done) }
            try await operations.reading { () async throws(RecordError) in
                try await operations.records.commit(
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

    /// The changes of proposals that a published release has carried out or overtaken, to be committed with its history.
    func ending(_ entry: HistoryEntry) async throws(RecordError) -> [RecordChange] {
        let labels = Set(entry.patches.map(\.label))
        let range = RecordRange(
            Proposal.collection,
            prefix: Proposal.prefix(entry.channel, entry.app),
            limit: Self.proposalsLimit
        )
        var changes: [RecordChange] = []
        for record in try await operations.records.store.records(range) {
            // A damaged proposal must not prevent recording a release.
            guard let proposal = try? Proposal(record), proposal.state == .open else { continue }
            let ended =
                proposal.id == entry.proposal
                ? proposal.done(as: entry.roleVersion, at: entry.published)
                : proposal.overtaken(by: entry.roleVersion, listing: labels, at: entry.published)
            if let ended { changes.append(.replace(record, with: ended.json)) }
        }
        return changes
    }

    private func found(
        _ id: ProposalID,
        of channel: ChannelName,
        in app: AppID
    ) async throws(OperationError) -> (record: Record, proposal: Proposal) {
        let found = try await operations.reading { () async throws(RecordError) in
            try await operations.records.store.record(Proposal.key(id, channel, app)).map {
                (record) throws(RecordError) in
                (record, try Proposal(record))
            }
        }
        guard let found else { throw .proposal(.unknown) }
        return found
    }

    /// An id that begins with the time in seconds, so that ids sort by creation time.
    private static func newID(at now: UTCTime) -> ProposalID {
        let seconds = UInt32(truncatingIfNeeded: now.seconds)
        let time = (0..<4).map { UInt8(truncatingIfNeeded: seconds >> (24 - 8 * $0)) }
        guard let id = ProposalID(Hex.text(time + SecureRandom.bytes(4))) else {
            preconditionFailure("eight bytes are 16 digits")
        }
        return id
    }
}

extension Result where Failure == ProposalFault {
    fileprivate var unfolded: Success {
        get throws(OperationError) {
            do throws(ProposalFault) { return try get() } catch { throw .proposal(error) }
        }
    }
}
