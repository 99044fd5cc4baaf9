import PatchChoice
import PatchFetch
import PatchFormat
import PatchCrypto
import PatchTrust

/// The only question that a device asks its server: for places, and for the user's assignments.
extension SyncEngine {
    /// The maximum number of questions in one sync.
    ///
    /// A denied place makes another version eligible, which may limit its devices too.
    static let questions = 3

    /// The server's answers that this plan needs before its download, or nil if it needs none.
    ///
    /// If the server does not answer, versions that limit their number of devices wait, and all others continue.
    ///
    /// - Parameter outcome: Receives the reason if the server does not answer.
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

    /// Asks the server alone.
    ///
    /// Mirrors only store files and receive no question.
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

    /// Stores the places.
    ///
    /// Errors are ignored: the server remembers the places too, so this only saves the next sync a question.
    private func remember(_ places: Set<SHA256Digest>) async {
        _ = try? await store.changingState(of: configuration.channel) { state throws(SyncError) in
            state.places.formUnion(places)
        }
    }
}
