import NIOHTTP1
package import PatchFormat

/// A proposed change on a server, which waits for a signature.
package struct ServiceProposal: Equatable, Sendable {
    package let id: ProposalID
    package let change: ProposedChange
    /// The proposer's display name.
    package let proposer: String
    package let note: String?
    package let isOpen: Bool
    /// The release that listed the withdrawn version last, if the current one does not list it.
    package let listedIn: Int?

    init(_ fields: Fields) throws(FormatError) {
        id = try fields.name("id")
        change = try ProposedChange(try fields.fields("change"))
        proposer = try fields.string("proposer")
        note = try fields.optionalString("note")
        isOpen = try fields.string("state") == "open"
        listedIn = fields.has("listedIn") ? try fields.integer("listedIn", in: 1...(1 << 53 - 1)) : nil
    }

    /// One line: the change, the proposer, and the reason.
    package func words(channel: ChannelName) -> String {
        "proposed by \(proposer): \(change.words(channel: channel))" + (note.map { " (\($0))" } ?? "")
    }
}

/// A server's answer to a new proposal.
package struct MadeProposal: Sendable {
    package let id: ProposalID
    /// The changes that the proposal would make now, one line each.
    package let difference: [String]
    package let answer: JSON
}

extension ServiceClient {
    /// Sends the proposal once.
    ///
    /// After a lost answer, the list of proposals shows whether it exists.
    package func propose(
        _ change: ProposedChange,
        note: String?,
        of channel: ChannelName,
        in app: AppID
    ) async throws(ServiceError) -> MadeProposal {
        let body = JSON.fields(change.members + [("note", note.map { .text($0) })])
        let answer = try await jsonOnce(.service(.POST, app, "/channels/\(channel)/proposals", body: .json(body)))
        do throws(FormatError) {
            // A server would ignore a part that it does not support, and the rest would be signed.
            guard try ProposedChange(try answer.fields("change")) == change else {
                throw answer.broken("change", AnswerRule.change)
            }
            return MadeProposal(
                id: try answer.name("id"),
                difference: try answer.strings("difference", limit: 2 * Limits.patchesInList),
                answer: .object(answer.object)
            )
        } catch { throw .malformed(error) }
    }

    /// The only app that the token gives access to.
    ///
    /// - Throws: `severalApps` if there is not exactly one.
    package func onlyApp() async throws(ServiceError) -> AppID {
        let answer = try await json(.apps)
        var apps: [AppID] = []
        do throws(FormatError) {
            for (index, value) in try answer.array("apps", limit: 100_000).enumerated() {
                apps.append(try Fields(value, of: "answer", at: "apps[\(index)]").name("app"))
            }
        } catch { throw .malformed(error) }
        guard let only = apps.first, apps.count == 1 else { throw .severalApps(apps) }
        return only
    }

    /// - Parameter asked: The caller's own change; nil for another user's proposal, which is shown to the user.
    /// - Throws: `otherChange` if the proposal contains another change, because the service could replace it.
    package func proposal(
        _ id: ProposalID,
        asked: ProposedChange?,
        of channel: ChannelName,
        in app: AppID
    ) async throws(ServiceError) -> ServiceProposal {
        let answer = try await json(.service(.GET, app, "/channels/\(channel)/proposals/\(id)"))
        let proposal: ServiceProposal
        do throws(FormatError) {
            proposal = try ServiceProposal(answer)
            guard proposal.id == id else { throw answer.broken("id", AnswerRule.proposal) }
        } catch { throw .malformed(error) }
        if let asked, proposal.change != asked { throw .otherChange(asked: asked, offered: proposal.change) }
        return proposal
    }
}
