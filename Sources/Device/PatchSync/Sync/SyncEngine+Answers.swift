import PatchChoice
import PatchFetch
import PatchFormat
import PatchCrypto
import PatchTrust

/// The one question that a device asks its server: for places, and for what was chosen for its user.
extension SyncEngine {
    /// In one sync: a place that is denied makes room for another version, which may have a head-count too.
    static let questions = 3

    /// What the server answers before this plan can be carried out; nil when there is nothing to ask.
    ///
    /// No answer is an answer too: versions with a head-count wait then, and everything else goes on.
    ///
    /// - Parameter outcome: told why there is none.
    func answers(
        wantedBy plan: SyncPlan,
        _ outcome: inout Download.Outcome
    ) async throws(SyncError) -> ServerAnswers? {
        guard let question = plan.question(for: configuration.user?.answerHash(in: configuration.app)) else {
            return nil
        }
        var answers = plan.context.answers
        do throws(SyncError) {
            answers.take(try await answer(to: question), to: question)
        } catch .fetch(.cancelled) {
            throw .fetch(.cancelled)
        } catch {
            answers.giveUp()
            outcome.unanswered = error
        }
        let given = answers.places.subtracting(plan.context.answers.places)
        if !given.isEmpty { await remember(given) }
        return answers
    }

    /// Of the server alone: mirrors hold files, and are told nothing.
    private func answer(to question: DeviceQuestion) async throws(SyncError) -> DeviceAnswer {
        let path = URLLayout.answer(configuration.app, configuration.channel)
        guard let server = sources.inOrder.first(where: { $0.name == configuration.server.text }) else {
            throw .fetch(.notFound(path))
        }
        let bytes: [UInt8]
        do throws(FetchError) {
            bytes = try await server.fetcher.answer(
                to: question.json.fileBytes,
                at: path,
                limit: Limits.answer,
                deadline: deadlines.document
            )
        } catch { throw .fetch(error) }
        do throws(FormatError) { return try DeviceAnswer(bytes) } catch { throw .format(error) }
    }

    /// Only saves the next sync a question, for the server remembers too.
    private func remember(_ places: Set<SHA256Digest>) async {
        _ = try? await store.changingState(of: configuration.channel) { state throws(SyncError) in
            state.places.formUnion(places)
        }
    }
}
