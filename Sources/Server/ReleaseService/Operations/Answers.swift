package import PatchFormat
import PatchServer
package import ServerRecords

/// Operators' choices for single users or for everyone (E8).
///
/// Devices follow them only to a listed and signed version.
package struct Answers: Sendable {
    let operations: ReleaseOperations

    package init(_ operations: ReleaseOperations) {
        self.operations = operations
    }

    package enum ChosenAnswer: Equatable, Sendable {
        case version(VersionLabel, isForced: Bool)
        case hold
    }

    /// The choices of a channel, in the order of places.
    ///
    /// - Parameters:
    ///   - place: only choices after it.
    ///   - bytes: the limit of the records to read, unless the first alone exceeds it.
    /// - Returns: the answers, and the place after which the next page begins; nil on the last one.
    package func page(
        of channel: ChannelName,
        in app: AppID,
        after place: ServerAnswer.Place? = nil,
        limit: Int,
        bytes: Int = ServerRecords.pageBytes
    ) async throws(OperationError) -> (answers: [ServerAnswer], next: ServerAnswer.Place?) {
        _ = try await operations.looking(app) { (repository) throws(ServerError) in repository.app }
        return try await operations.reading { () async throws(RecordError) in
            let prefix = ServerAnswer.prefix(app, channel)
            let page = try await operations.records.page(
                RecordRange(
                    ServerAnswer.collection,
                    prefix: prefix,
                    after: place.map { prefix + $0.text },
                    limit: limit,
                    bytes: bytes
                )
            )
            var answers: [ServerAnswer] = []
            for record in page.records { answers.append(try ServerAnswer(record)) }
            return (answers, page.hasMore ? answers.last?.place : nil)
        }
    }

    /// The choice for one user, or for everyone.
    func answers(
        for target: ServerAnswer.Target,
        of channel: ChannelName,
        in app: AppID
    ) async throws(OperationError) -> [ServerAnswer] {
        try await operations.reading { () async throws(RecordError) in
            var answers: [ServerAnswer] = []
            let prefix = ServerAnswer.prefix(app, channel, target)
            let range = RecordRange(ServerAnswer.collection, prefix: prefix, limit: Limits.answersForOne)
            for record in try await operations.records.store.records(range) { answers.append(try ServerAnswer(record)) }
            return answers
        }
    }

    /// Stores a choice, and replaces an earlier one for the same target and patch.
    ///
    /// - Throws: `dial(.notListed)` for a version that the channel does not list now.
    package func choose(
        _ target: ServerAnswer.Target,
        with wish: ChosenAnswer,
        of patchID: PatchID,
        in channel: ChannelName,
        of app: AppID,
        by actor: Actor
    ) async throws(OperationError) -> ServerAnswer {
        try await operations.inTurn { () async throws(OperationError) in
            let state = try await operations.looking(app) { (repository) throws(ServerError) in
                try repository.dial(of: channel)
            }
            let answer = ServerAnswer(
                app: app,
                channel: channel,
                target: target,
                patchID: patchID,
                choice: try Self.choice(wish, of: patchID, in: state),
                actor: actor,
                since: operations.records.now()
            )
            let before = try await operations.reading { () async throws(RecordError) in
                try await operations.records.store.record(answer.key)
            }
            if before == nil { try await checkCapacity(for: target, of: channel, in: app) }
            try await operations.reading { () async throws(RecordError) in
                try await operations.records.commit(
                    [before.map { .replace($0, with: answer.json) } ?? .insert(answer.key, answer.json)],
                    noting: AuditEntry.Event(
                        "answer.set",
                        by: actor,
                        app: app,
                        channel: channel,
                        before: before?.value ?? .null,
                        after: answer.json
                    )
                )
            }
            return answer
        }
    }

    private func checkCapacity(
        for target: ServerAnswer.Target,
        of channel: ChannelName,
        in app: AppID
    ) async throws(OperationError) {
        func count(_ prefix: String) async throws(OperationError) -> Int {
            try await operations.reading { () async throws(RecordError) in
                try await operations.records.store.count(ServerAnswer.collection, prefix: prefix)
            }
        }
        guard try await count(ServerAnswer.prefix(app, channel, target)) < Limits.answersForOne else {
            throw .tooManyAnswers(limit: Limits.answersForOne)
        }
        guard try await count(ServerAnswer.prefix(app, channel)) < Limits.answersInChannel else {
            throw .answersFull(channel, limit: Limits.answersInChannel)
        }
    }

    private static func choice(
        _ wish: ChosenAnswer,
        of patchID: PatchID,
        in state: DialState
    ) throws(OperationError) -> ServerAnswer.Choice {
        let versions = state.versions.filter { $0.patchID == patchID }
        guard !versions.isEmpty else { throw .server(.dial(.notListed(state.channel, patchID.text))) }
        switch wish {
        case .hold: return .hold
        case .version(let label, let isForced):
            guard let version = versions.first(where: { $0.version == label }) else {
                throw .server(.dial(.notListed(state.channel, "\(patchID)@\(label)")))
            }
            return .version(label, version.sha256, isForced: isForced)
        }
    }

    /// Removes a choice.
    ///
    /// From then on, only the list and its rules decide.
    ///
    /// - Returns: the removed choice; nil if there was none.
    package func remove(
        for target: ServerAnswer.Target,
        of patchID: PatchID,
        in channel: ChannelName,
        of app: AppID,
        by actor: Actor
    ) async throws(OperationError) -> ServerAnswer? {
        _ = try await operations.looking(app) { (repository) throws(ServerError) in repository.app }
        return try await operations.reading { () async throws(RecordError) in
            let key = ServerAnswer.key(app, channel, target, patchID)
            guard let record = try await operations.records.store.record(key) else { return nil }
            let answer = try ServerAnswer(record)
            try await operations.records.commit(
                [.remove(record)],
                noting: AuditEntry.Event("answer.remove", by: actor, app: app, channel: channel, before: record.value)
            )
            return answer
        }
    }
}
