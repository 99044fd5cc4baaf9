import NIOConcurrencyHelpers
package import PatchFormat
import PatchServer
import PatchStore
import ServerRecords

/// Where devices ask: gives places in versions with a head-count, tells what is chosen for a user, and takes what JSPatch's clients
/// report.
///
/// It says nothing that a device could not do without it: it holds back, or chooses among what the channel lists.
package struct DeviceService: Sendable {
    /// What an app's devices are answered by, valid until something is published.
    private struct Published: Sendable {
        let revision: StoredFile?
        /// All that the root of trust names: no other name is ever looked for.
        let channels: [ChannelName]
        var listed: [ChannelName: Result<ListedVersions, OperationError>] = [:]
    }

    /// A channel's list and dial.
    private struct ListedVersions: Sendable {
        let state: DialState
        /// What JSPatch's clients get.
        let packages: [GatewayPackages]

        func version(_ patchID: PatchID, _ sha256: SHA256Digest) -> DialState.Version? {
            state.versions.first { $0.patchID == patchID && $0.sha256 == sha256 }
        }
    }

    let operations: ReleaseOperations
    /// One at a time: in parallel they would only block each other.
    private let turn = SerialQueue()
    private let kept = NIOLockedValueBox<[AppID: Published]>([:])
    /// Of their own, so that statistics, which anybody may send, hold no place up.
    private let statistics = SerialQueue()

    package init(_ operations: ReleaseOperations) {
        self.operations = operations
    }

    package func answer(
        _ question: DeviceQuestion,
        in channel: ChannelName,
        of app: AppID
    ) async throws(OperationError) -> DeviceAnswer {
        let listed = try await listedVersions(of: channel, in: app)
        let choices = try await choices(for: question.user, listed, channel, app)
        var places: [DeviceAnswer.Place] = []
        for asked in question.places {
            let isGiven = try await give(asked, of: listed, choices[asked.patchID])
            places.append(DeviceAnswer.Place(patchID: asked.patchID, sha256: asked.sha256, isGiven: isGiven))
        }
        return DeviceAnswer(places: places, choices: choices)
    }

    /// The user's own, before everyone's; only what is listed now.
    private func choices(
        for user: SHA256Digest?,
        _ listed: ListedVersions,
        _ channel: ChannelName,
        _ app: AppID
    ) async throws(OperationError) -> [PatchID: DeviceAnswer.Choice] {
        var answers = try await Answers(operations).answers(for: .everyone, of: channel, in: app)
        if let user { answers += try await Answers(operations).answers(for: .user(user), of: channel, in: app) }
        var choices: [PatchID: DeviceAnswer.Choice] = [:]
        for answer in answers {
            if case .version(_, let sha256, isForced: _) = answer.choice,
                listed.version(answer.patchID, sha256) == nil
            {
                continue
            }
            choices[answer.patchID] = answer.told
        }
        return choices
    }

    /// No place is wasted on a device that is told to take another version, or none.
    private func give(
        _ asked: DeviceQuestion.Place,
        of listed: ListedVersions,
        _ choice: DeviceAnswer.Choice?
    ) async throws(OperationError) -> Bool {
        guard let headcount = listed.version(asked.patchID, asked.sha256)?.row?.headcount else { return false }
        switch choice {
        case .hold: return false
        case .version(let sha256, isForced: _) where sha256 != asked.sha256: return false
        case .version, nil: break
        }
        let places = Places(
            app: listed.state.app,
            channel: listed.state.channel,
            patchID: asked.patchID,
            sha256: asked.sha256
        )
        return try await turn.taken(orElse: OperationError.busy) { () async throws(OperationError) in
            try await operations.reading { () async throws(RecordError) in
                try await places.give(asked.device, upTo: headcount, in: operations.records.store)
            }
        }
    }

    /// What JSPatch's clients get of a channel.
    func packages(of channel: ChannelName, in app: AppID) async throws(OperationError) -> [GatewayPackages] {
        try await listedVersions(of: channel, in: app).packages
    }

    func counting(_ work: () async throws(RecordError) -> Void) async throws(OperationError) {
        try await statistics.taken(orElse: OperationError.busy) { () async throws(OperationError) in
            try await operations.reading(work)
        }
    }

    /// Each publish has a channel read once, also one in which nothing is published; what failed otherwise is tried again.
    private func listedVersions(of channel: ChannelName, in app: AppID) async throws(OperationError) -> ListedVersions {
        if let known = try await known(channel, in: app) { return try known.get() }
        return try await turn.taken(orElse: OperationError.busy) { () async throws(OperationError) in
            if let known = try await known(channel, in: app) { return try known.get() }
            var published = try await published(app)
            guard published.channels.contains(channel) else {
                kept.withLockedValue { $0[app] = published }
                throw .server(.noChannel(app, channel, known: published.channels))
            }
            let listed = await read(channel, in: app)
            switch listed {
            case .success, .failure(.server(.dial(.unpublished))): published.listed[channel] = listed
            case .failure: break
            }
            kept.withLockedValue { $0[app] = published }
            return try listed.get()
        }
    }

    /// What is known of an app, as it is published now; without lists where that is news.
    private func published(_ app: AppID) async throws(OperationError) -> Published {
        let known = kept.withLockedValue { $0[app] }
        return try await operations.looking(app) { (repository) throws(ServerError) in
            // The mark first: a publish in between makes it stale, and the lists are read again.
            let revision = try repository.revision()
            if let known, known.revision == revision, revision != nil { return known }
            return Published(revision: revision, channels: try repository.channelNames())
        }
    }

    private func read(_ channel: ChannelName, in app: AppID) async -> Result<ListedVersions, OperationError> {
        do throws(OperationError) {
            return .success(
                try await operations.looking(app) { (repository) throws(ServerError) in
                    ListedVersions(
                        state: try repository.dial(of: channel),
                        packages: try repository.offered(in: channel).list.gateways
                    )
                }
            )
        } catch { return .failure(error) }
    }

    /// Nil for what has to be read.
    private func known(
        _ channel: ChannelName,
        in app: AppID
    ) async throws(OperationError) -> Result<ListedVersions, OperationError>? {
        guard let published = kept.withLockedValue({ $0[app] }) else { return nil }
        let revision = try await operations.looking(app) { (repository) throws(ServerError) in
            try repository.revision()
        }
        guard revision == published.revision, revision != nil else { return nil }
        guard published.channels.contains(channel) else {
            return .failure(.server(.noChannel(app, channel, known: published.channels)))
        }
        return published.listed[channel]
    }
}
