import NIOConcurrencyHelpers
package import PatchFormat
import PatchServer
import PatchStore
import ServerRecords

/// The service for devices: gives places in versions with a headcount, returns operators' choices for a user, and receives the
/// reports of JSPatch's clients.
///
/// Devices also work without it: it only restricts, or chooses among the listed versions.
package struct DeviceService: Sendable {
    /// The cached state for answering an app's devices, valid until the next publish.
    private struct Published: Sendable {
        let revision: StoredFile?
        /// All channels in the root of trust: no other name is looked up.
        let channels: [ChannelName]
        var listed: [ChannelName: Result<ListedVersions, OperationError>] = [:]
    }

    /// A channel's list and dial.
    private struct ListedVersions: Sendable {
        let state: DialState
        /// The packages that JSPatch's clients receive.
        let packages: [GatewayPackages]

        func version(_ patchID: PatchID, _ sha256: SHA256Digest) -> DialState.Version? {
            state.versions.first { $0.patchID == patchID && $0.sha256 == sha256 }
        }
    }

    let operations: ReleaseOperations
    /// Gives places one at a time: in parallel the calls would only block one another.
    private let turn = SerialQueue()
    private let kept = NIOLockedValueBox<[AppID: Published]>([:])
    /// A separate queue, so that statistics, which anyone can send, do not delay places.
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

    /// The user's own choices, else those for everyone; only versions listed now.
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
            choices[answer.patchID] = answer.deviceChoice
        }
        return choices
    }

    /// Gives a place, unless the device must install another version or none: the place would be wasted.
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

    /// The packages that JSPatch's clients receive from a channel.
    func packages(of channel: ChannelName, in app: AppID) async throws(OperationError) -> [GatewayPackages] {
        try await listedVersions(of: channel, in: app).packages
    }

    func counting(_ work: () async throws(RecordError) -> Void) async throws(OperationError) {
        try await statistics.taken(orElse: OperationError.busy) { () async throws(OperationError) in
            try await operations.reading(work)
        }
    }

    /// A channel is read once for each publish, even if it has no release; reading is tried again after other errors.
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

    /// The cached state of an app if it is current, else a new one without lists.
    private func published(_ app: AppID) async throws(OperationError) -> Published {
        let known = kept.withLockedValue { $0[app] }
        return try await operations.looking(app) { (repository) throws(ServerError) in
            // The revision is read first: a publish in between makes it stale, and the lists are read again.
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

    /// The cached result, or nil if the channel must be read.
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
