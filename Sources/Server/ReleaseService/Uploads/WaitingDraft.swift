package import PatchFormat
package import PatchServer
import PatchCrypto
import PatchTrust
import ReleaseFolder

/// A draft for the person who decides on it: its changes, its signatures, and whether it can still be published.
package struct WaitingDraft: Equatable, Sendable {
    package let app: AppID
    package let row: AppListing.DraftRow
    /// The version of the release that it was made from; nil for a channel's first.
    package let base: Int?
    /// The channel's present version; 0 before its first release.
    package let roleVersion: Int
    /// Ids of the authorized keys that have signed.
    package let signers: [String]
    package let expires: UTCTime
    package let proposal: ProposalID?
    package let patches: [HistoryEntry.Patch]
    /// The changes that it would make, one line each.
    package let difference: [String]

    package var json: JSON {
        row.json.adding([
            ("app", .text(app.text)), ("base", base.map { .integer($0) }), ("published", .integer(roleVersion)),
            ("signers", .array(signers.map { .text($0) })), ("expires", .text(expires.description)),
            ("proposal", proposal.map { .text($0.text) }), ("patches", .array(patches.map(\.json))),
            ("difference", .array(difference.map { .text($0) })),
        ])
    }
}

extension WaitingDraft {
    /// - Throws: `release` for an unreadable draft.
    init(_ draft: Draft, in listing: AppListing, _ state: PublishedState) throws(ServerError) {
        let channel = draft.channel
        guard let row = listing.drafts.first(where: { $0.channel == channel && $0.version == draft.version }),
            let delegation = state.targets.delegation(to: channel.text)
        else { throw .release(.trust(.notDelegated(role: channel.text))) }
        let list: PatchList
        do throws(FormatError) {
            expires = try TargetsRole(draft.release.role, name: channel.text).header.expires
            list = try ParsedPatchList(draft.release.targets[.patchList(channel)] ?? []).list
        } catch { throw .release(.format(error)) }
        app = listing.app
        self.row = row
        base = draft.release.header.base?.roleVersion
        roleVersion = state.version(of: channel)
        signers = draft.signers(delegation)
        proposal = draft.release.header.proposal
        patches = list.entries.map(HistoryEntry.Patch.init)
        let current = listing.channels.first { $0.name == channel }?.patches ?? []
        difference = Self.difference(from: current, to: patches)
    }

    static func difference(from current: [AppListing.Patch], to patches: [HistoryEntry.Patch]) -> [String] {
        var lines: [String] = []
        for patch in patches {
            let own = current.filter { $0.patchID == patch.label.patchID }
            guard let same = own.first(where: { $0.version == patch.label.version }) else {
                lines.append(
                    "+ \(patch.label) is \(own.isEmpty ? "new" : "listed"), for \(RolloutShare(patch.rollout))"
                )
                continue
            }
            if same.sha256 != patch.sha256 {
                lines.append("! \(patch.label) is published with other content")
            } else if same.rollout != patch.rollout {
                lines.append(
                    "~ \(patch.label): rollout goes from \(RolloutShare(same.rollout)) to \(RolloutShare(patch.rollout))"
                )
            }
        }
        let labels = Set(patches.map(\.label))
        for gone in current.map({ Label(patchID: $0.patchID, version: $0.version) }) where !labels.contains(gone) {
            lines.append("- \(gone) is withdrawn; devices that run it remove it")
        }
        // Hidden rules may differ: the signer sees all of them.
        return lines.isEmpty ? ["= no other content; rules may differ"] : lines
    }
}
