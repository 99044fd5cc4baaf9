import NIOConcurrencyHelpers
package import PatchFormat
import PatchServer
import PatchStore
import ReleaseTree
import ServerRecords

/// Where devices ask: gives places in versions with a head-count, tells what is chosen for a user, and takes what JSPatch's clients
/// report.
///
/// It says nothing that a device could not do without it: it holds back, or chooses among what the channel lists.
package struct DeviceService: Sendable {
    private struct Channel: Hashable {
        let app: AppID
        let channel: ChannelName
    }

    /// A channel's list and dial, valid until something is published.
    private struct ListedVersions: Sendable {
        let revision: StoredFile?
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
    private let kept = NIOLockedValueBox<[Channel: ListedVersions]>([:])
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
        let listed = try await listedVersions(Channel(app: app, channel: channel))
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
        var answers = try await operations.answers(for: .everyone, of: channel, in: app)
        if let user { answers += try await operations.answers(for: .user(user), of: channel, in: app) }
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
        try await listedVersions(Channel(app: app, channel: channel)).packages
    }

    func counting(_ work: () async throws(RecordError) -> Void) async throws(OperationError) {
        try await statistics.taken(orElse: OperationError.busy) { () async throws(OperationError) in
            try await operations.reading(work)
        }
    }

    private func listedVersions(_ channel: Channel) async throws(OperationError) -> ListedVersions {
        if let known = try await known(channel) { return known }
        return try await turn.taken(orElse: OperationError.busy) { () async throws(OperationError) in
            if let known = try await known(channel) { return known }
            let listed = try await operations.looking(channel.app) { (repository) throws(ServerError) in
                // The mark first: a publish in between makes it stale, and the list is read again.
                let revision = try repository.revision()
                return ListedVersions(
                    revision: revision,
                    state: try repository.dial(of: channel.channel),
                    packages: try repository.offered(in: channel.channel).list.gateways
                )
            }
            kept.withLockedValue { $0[channel] = listed }
            return listed
        }
    }

    private func known(_ channel: Channel) async throws(OperationError) -> ListedVersions? {
        guard let listed = kept.withLockedValue({ $0[channel] }) else { return nil }
        let revision = try await operations.looking(channel.app) { (repository) throws(ServerError) in
            try repository.revision()
        }
        return revision == listed.revision && revision != nil ? listed : nil
    }
}
