import NIOConcurrencyHelpers
package import PatchFormat
import PatchServer
import PatchStore
import ReleaseTree
import ServerRecords

/// Where devices ask: gives places in versions with a head-count, and tells what is chosen for a user.
///
/// It says nothing that a device could not do without it: it holds back, or chooses among what the channel lists.
package struct DeviceDesk: Sendable {
    private struct Channel: Hashable {
        let app: AppID
        let channel: ChannelName
    }

    /// What a channel lists and its dial, as long as nothing was published.
    private struct Offer: Sendable {
        let mark: StoredFile?
        let state: DialState

        func version(_ patchID: PatchID, _ sha256: SHA256Digest) -> DialState.Version? {
            state.versions.first { $0.patchID == patchID && $0.sha256 == sha256 }
        }
    }

    private let desk: ReleaseDesk
    /// One at a time: they would only stand in each other's way.
    private let turn = Turn()
    private let offers = NIOLockedValueBox<[Channel: Offer]>([:])

    package init(_ desk: ReleaseDesk) {
        self.desk = desk
    }

    package func answer(
        _ question: DeviceQuestion,
        in channel: ChannelName,
        of app: AppID
    ) async throws(DeskError) -> DeviceAnswer {
        let offer = try await offer(Channel(app: app, channel: channel))
        let choices = try await choices(for: question.user, offer, channel, app)
        var places: [DeviceAnswer.Place] = []
        for asked in question.places {
            let isGiven = try await give(asked, of: offer, choices[asked.patchID])
            places.append(DeviceAnswer.Place(patchID: asked.patchID, sha256: asked.sha256, isGiven: isGiven))
        }
        return DeviceAnswer(places: places, choices: choices)
    }

    /// The user's own, before everyone's; only what is listed now.
    private func choices(
        for user: SHA256Digest?,
        _ offer: Offer,
        _ channel: ChannelName,
        _ app: AppID
    ) async throws(DeskError) -> [PatchID: DeviceAnswer.Choice] {
        var answers = try await desk.answers(for: .everyone, of: channel, in: app)
        if let user { answers += try await desk.answers(for: .user(user), of: channel, in: app) }
        var choices: [PatchID: DeviceAnswer.Choice] = [:]
        for answer in answers {
            if case .version(_, let sha256, isForced: _) = answer.choice,
                offer.version(answer.patchID, sha256) == nil
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
        of offer: Offer,
        _ choice: DeviceAnswer.Choice?
    ) async throws(DeskError) -> Bool {
        guard let headcount = offer.version(asked.patchID, asked.sha256)?.row?.headcount else { return false }
        switch choice {
        case .hold: return false
        case .version(let sha256, isForced: _) where sha256 != asked.sha256: return false
        case .version, nil: break
        }
        let places = Places(
            app: offer.state.app,
            channel: offer.state.channel,
            patchID: asked.patchID,
            sha256: asked.sha256
        )
        return try await turn.taken(orElse: DeskError.busy) { () async throws(DeskError) in
            try await desk.reading { () async throws(RecordError) in
                try await places.give(asked.device, upTo: headcount, in: desk.records.store)
            }
        }
    }

    private func offer(_ channel: Channel) async throws(DeskError) -> Offer {
        if let known = try await known(channel) { return known }
        return try await turn.taken(orElse: DeskError.busy) { () async throws(DeskError) in
            if let known = try await known(channel) { return known }
            let offer = try await desk.looking(channel.app) { (repository) throws(ServerError) in
                // The mark first: what is published in between is read again.
                let mark = try repository.mark()
                return Offer(mark: mark, state: try repository.dial(of: channel.channel))
            }
            offers.withLockedValue { $0[channel] = offer }
            return offer
        }
    }

    private func known(_ channel: Channel) async throws(DeskError) -> Offer? {
        guard let offer = offers.withLockedValue({ $0[channel] }) else { return nil }
        let mark = try await desk.looking(channel.app) { (repository) throws(ServerError) in try repository.mark() }
        return mark == offer.mark && mark != nil ? offer : nil
    }
}
