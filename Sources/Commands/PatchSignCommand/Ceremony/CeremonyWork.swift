import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchTrust
import SystemPackage

/// The common part of `rotate`, `delegate` and `revoke`: signs a draft with all available keys, and publishes it if it is
/// complete.
struct CeremonyWork {
    let keys: KeyOptions
    let folder: TrustFolder
    let time: UTCTime
    let json: Bool
    let trust: ReleaseTrust
    /// The draft in the folder that waits for signatures.
    let pending: TrustDraft?

    /// Completes an interrupted ceremony first.
    init(_ keys: KeyOptions, time: UTCTime, json: Bool) throws(Failure) {
        let folder = keys.trustFolder
        pending = try signing { () throws(SigningError) in try folder.resume(at: time) }
        trust = try keys.rootOfTrust()
        (self.keys, self.folder, self.time, self.json) = (keys, folder, time, json)
    }

    /// The keys that are in the folder.
    func presence() throws(Failure) -> KeyPresence {
        try signing { () throws(SigningError) in try KeyPresence(trust, files: folder.files) }
    }

    /// Fails if another ceremony's draft is pending, because it must not be overwritten.
    func refusePending() throws(Failure) {
        guard pending != nil else { return }
        throw Failure(SigningError.ceremony(folder.draftPath, .pending))
    }

    /// Drafts, signs and publishes these changes.
    ///
    /// Without edits it fails, because the draft would be a renewal.
    func carryOut(_ edits: [TrustEdit], validity: Duration) throws(Failure) -> Bool {
        let draft = try signing { () throws(SigningError) in
            guard !edits.isEmpty else { throw .ceremony(folder.folder, .nothingChanges) }
            return try folder.draft(edits, on: trust.roles, at: time, validity: validity)
        }
        return try carryOut(draft)
    }

    /// Shows and signs the draft.
    ///
    /// Publishes it, or leaves it for the other holders.
    ///
    /// - Returns: whether it was published.
    func carryOut(_ draft: TrustDraft) throws(Failure) -> Bool {
        let (folder, time) = (folder, time)
        let change = try signing { () throws(SigningError) in try folder.change(draft, at: folder.draftPath) }
        if !json { try TrustReport(change, in: folder).write(to: .standardOutput) }
        let (signed, closed) = try sign(change)
        let settled = try signing { () throws(SigningError) -> [String] in
            try folder.save(signed.draft, to: folder.draftPath, replacing: true)
            return signed.isComplete ? try folder.finish(signed.draft, at: time) : []
        }
        let report = try TrustReport(signed, in: folder)
        if json {
            Console.standardOutput.line(
                report.json([
                    ("published", .bool(signed.isComplete)),
                    ("draft", signed.isComplete ? nil : .text(folder.draftPath.string)),
                    ("newKeys", .array(settled.map { .text($0) })),
                    ("notOpened", .array(closed.map { .text($0) })),
                ]).pretty()
            )
        } else {
            printSummary(signed, report, try presence(), settled: settled, closed: closed)
        }
        return signed.isComplete
    }

    /// Signs with every key of the folder that may sign and can be opened.
    ///
    /// If no key can be opened, because a passphrase was mistyped, nothing is changed.
    private func sign(_ change: TrustChange) throws(Failure) -> (TrustChange, closed: [String]) {
        let (folder, pairs) = (folder, KeyFolder(folder.folder, files: folder.files))
        var (change, closed): (TrustChange, [String]) = (change, [])
        var (opened, refusal): (Int, Failure?) = (0, nil)
        for (name, key) in try signing({ () throws(SigningError) in try pairs.publicKeys() }) {
            let isAvailable = try signing { () throws(SigningError) in try pairs.hasPrivateKey(name) }
            guard isAvailable, !change.rolesToSign(with: key).isEmpty else { continue }
            let signer: SigningKey
            do throws(Failure) {
                signer = try keys.open(pairs.privateFile(name))
            } catch {
                guard error.code == .refused else { throw error }
                closed.append(name)
                refusal = refusal ?? error
                continue
            }
            // A new pair of this ceremony does not show that any passphrase of the other keys was right.
            if !name.hasSuffix(".next") { opened += 1 }
            let present = change
            change = try signing { () throws(SigningError) in
                try folder.change(try present.signed(with: signer), at: folder.draftPath)
            }
        }
        if opened == 0, let refusal { throw refusal }
        return (change, closed)
    }

    private func printSummary(
        _ change: TrustChange,
        _ report: TrustReport,
        _ presence: KeyPresence,
        settled: [String],
        closed: [String]
    ) {
        let console = Console.standardOutput
        report.writeQuorums(to: console)
        for name in closed {
            console.line("not opened: \(printable(name)).key; its passphrase was not among those given")
        }
        guard change.isComplete else {
            console.line("nothing has changed yet: \(printable(folder.draftPath.string)) waits for the other holders")
            for role in [TrustRole.root, .targets] {
                guard let name = presence[role]?.missingOnlyKey else { continue }
                console.line(printable(KeyPresence.missingOnly(name, of: role)))
            }
            return console.line("next: they run `patchsign root sign`; then `patchsign root publish`")
        }
        let (root, targets) = (change.after.root.header.version, change.after.targets.header.version)
        console.line("published: root \(root) and targets \(targets) are in \(printable(folder.folder.string))")
        for name in settled { console.line("\(name).key is the new key; the old one is in \(KeyFolder.retired)/") }
        for channel in change.weakenedChannels {
            console.line(
                "\(channel): its current release may depend on a removed key; sign it again:\n"
                    + "  patchsign release renew RELEASE --keys \(printable(keys.keys)) --output NEW --base-quorum-lost"
            )
        }
        console.line("next: \(serverStep(keys.keys, newOnlineKey: settled.contains(RootOfTrustPlan.online)))")
    }
}
