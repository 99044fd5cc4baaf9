import PatchCrypto
package import PatchFormat

/// A patch list that the channel's role vouches for, with the entries whose own signatures are valid.
///
/// Only ``init(_:for:channel:file:role:observe:)`` makes one.
package struct VerifiedList: Sendable {
    package let list: PatchList
    /// The valid entries whose RSA signatures were verified, in list order.
    package let entries: [PatchEntry]
    /// The rejected entries, each with its reason.
    package let refused: [RefusedEntry]
    package let entryKeys: EntryKeys
    package let roleVersion: Int

    /// The contents that it withdraws by name, by patch.
    package var withdrawn: [PatchID: Set<SHA256Digest>] { list.withdrawnContents }

    /// - Parameters:
    ///   - bytes: the target `CHANNEL/patchlist.json`.
    ///   - file: the target's description in the channel's role.
    package init(
        _ bytes: [UInt8],
        for app: AppID,
        channel: ChannelName,
        file: TargetFile,
        role: TargetsRole,
        observe: CheckObserver? = nil
    ) throws(TrustError) {
        let name = TargetPath.patchList(channel).text
        try file.check(bytes, name: name)
        observe?(CheckRecord(.targetBytes, of: name))
        let parsed: ParsedPatchList
        do throws(FormatError) { parsed = try ParsedPatchList(bytes, named: name) } catch { throw .malformed(error) }
        guard parsed.list.app == app else {
            throw .foreign(document: name, field: "app", found: parsed.list.app.text, expected: app.text)
        }
        guard parsed.list.channel == channel else {
            throw .foreign(document: name, field: "channel", found: parsed.list.channel.text, expected: channel.text)
        }
        observe?(CheckRecord(.addressee, of: name))
        var entries: [PatchEntry] = []
        var refused = parsed.problems.map { problem in
            let name =
                problem.patchID.map { id in problem.version.map { "\(id) \($0)" } ?? id.text }
                ?? "entry \(problem.index)"
            return RefusedEntry(
                patchID: problem.patchID,
                version: problem.version,
                fault: EntryFault(entry: name, rule: .unreadable(problem.error))
            )
        }
        for entry in parsed.list.entries {
            let (label, key) = ("\(entry.patchID) \(entry.version)", entry.signature.keyID)
            do throws(EntryFault) {
                try role.entryKeys.check(
                    entry.signature,
                    over: entry.statement(app: app, channel: channel),
                    entry: label
                )
                entries.append(entry)
                observe?(CheckRecord(.entrySignature, of: label, key: key))
            } catch {
                observe?(CheckRecord(.entrySignature, of: label, key: key, fault: error.description))
                refused.append(RefusedEntry(patchID: entry.patchID, version: entry.version, fault: error))
            }
        }
        list = parsed.list
        self.entries = entries
        self.refused = refused
        entryKeys = role.entryKeys
        roleVersion = role.header.version
    }
}

/// A list entry that is not offered to this device because its verification failed.
package struct RefusedEntry: Equatable, Sendable {
    package let patchID: PatchID?
    package let version: VersionLabel?
    package let fault: EntryFault
}
