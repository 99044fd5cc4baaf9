import PatchFormat
import PatchRelease
import PatchCrypto
import PatchTrust
import CommandKit

/// Describes a draft of root or targets: its changes, its signatures and those missing.
struct TrustReport {
    let change: TrustChange
    let names: KeyNames

    init(_ change: TrustChange, in folder: TrustFolder) throws(Failure) {
        self.change = change
        names = try signing { () throws(SigningError) in
            try KeyNames(KeyFolder(folder.folder, files: folder.files))
        }
    }

    func write(to console: Console) {
        console.line(head)
        for difference in change.differences { console.line("  " + styled(difference.words(names), on: console)) }
        writeQuorums(to: console)
    }

    /// Warnings about roles of the draft that have expired or expire soon.
    func warnings(at now: UTCTime) -> [String] {
        [(change.draft.root, change.after.root.header), (change.draft.targets, change.after.targets.header)]
            .compactMap { envelope, header in
                envelope.flatMap { ReleaseExpiry.Role($0.role, expires: header.expires).draftWarning(at: now) }
            }
    }

    func writeQuorums(to console: Console) {
        for quorum in change.quorums { console.line(printable(quorum.words(names))) }
        guard let handover = change.handover else { return }
        console.line(printable(handover.words(names)))
        guard change.isComplete, !handover.isComplete else { return }
        console.line(
            "the removed keys have not signed the new targets: a device that syncs while the server installs them "
                + "may reject them once"
        )
    }

    private var head: String {
        let parts = [change.draft.root, change.draft.targets].compactMap(\.self).map(\.role)
        return "\(change.base == nil ? "the first" : "the next") \(parts.joined(separator: " and ")) of "
            + "\(change.draft.app)"
    }

    /// - Parameter more: Additional members of the command.
    func json(_ more: [(String, JSON?)] = []) -> JSON {
        .fields(
            [
                ("app", .text(change.draft.app.text)), ("complete", .bool(change.isComplete)),
                ("root", role(change.draft.root, change.after.root.header)),
                ("targets", role(change.draft.targets, change.after.targets.header)),
                ("changes", .array(change.differences.map { .text($0.words(names)) })),
                ("signatures", .array(change.quorums.map(json(of:)))), ("handover", change.handover.map(json(of:))),
                ("channelsToSignAgain", .array(change.weakenedChannels.map { .text($0.text) })),
            ] + more
        )
    }

    private func role(_ envelope: Envelope?, _ header: RoleHeader) -> JSON? {
        envelope.map { _ in
            .fields([("version", .integer(header.version)), ("expires", .text(header.expires.description))])
        }
    }

    private func json(of quorum: TrustQuorum) -> JSON {
        func keys(_ ids: [SHA256Digest]) -> JSON {
            .array(
                ids.compactMap { quorum.keys.keys[$0] }.map { key in
                    .fields([("keyid", .text(key.id.hex)), ("name", names.name(of: key).map { .text($0) })])
                }
            )
        }
        return .fields([
            ("rule", .text(quorum.rule.description)), ("valid", .integer(quorum.valid)),
            ("needed", .integer(quorum.needed)), ("complete", .bool(quorum.isComplete)),
            ("signed", keys(quorum.signed.sorted())), ("missing", keys(quorum.missing)),
        ])
    }
}
