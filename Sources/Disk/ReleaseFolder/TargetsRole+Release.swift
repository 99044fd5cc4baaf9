import PatchFormat
import PatchCrypto
import PatchTrust

extension TargetsRole {
    /// Checks that a channel's role contains the data of a release and nothing else, because signers see only that data.
    ///
    /// The role is written again from the parsed data and compared.
    func checkHoldsNoMore(_ envelope: Envelope, _ jspatchKeys: JSPatchKeys) throws(FormatError) {
        var files: [TargetPath: TargetFile] = [:]
        for (name, file) in targets { if let path = TargetPath(name.text) { files[path] = file } }
        let expected = RoleDocument.delegated(
            name,
            // A release from before roles named their app names none.
            app: header.app,
            version: header.version,
            expires: header.expires,
            targets: files,
            entryKeys: entryKeys,
            jspatchKeys: jspatchKeys
        )
        let found = envelope.signed.object ?? JSONObject()
        var wanted = expected.signed.object ?? JSONObject()
        // Any 1.x.y, which was checked when it was read. A release may be older than this version of the program.
        wanted["spec_version"] = found["spec_version"]
        for row in envelope.signed[EntryKeys.member]?.object?.members ?? [] {
            guard Set(row.value.object?.members.map(\.key.text) ?? []).isSubset(of: Self.entryKeyMembers) else {
                throw FormatError(name, field: "signed.\(EntryKeys.member).\(row.key)", rule: Self.rule)
            }
        }
        guard envelope.signed.canonicalBytes != JSON.object(wanted).canonicalBytes else { return }
        let names = Set((found.members + wanted.members).map(\.key)).sorted()
        let field = names.first { found[$0.text]?.canonicalBytes != wanted[$0.text]?.canonicalBytes }
        throw FormatError(
            name,
            field: "signed" + (field.map { ".\($0)" } ?? ""),
            rule: Self.rule
        )
    }

    private static let entryKeyMembers: Set<String> = ["keytype", "keyval", "scheme", "usage"]
    private static let rule = "has members that are not part of a release"
}
