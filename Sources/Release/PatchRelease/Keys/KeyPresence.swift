package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust

/// Which keys of each role are in a folder: the private half, or the description of an external signer.
///
/// Opens no key. A key is known by its `NAME.pub` in the folder.
package struct KeyPresence: Equatable, Sendable {
    package struct Row: Equatable, Sendable {
        package let role: String
        /// How many keys must sign.
        package let needed: Int
        /// Names of keys, or the beginning of the id of a key whose public half is not here.
        package let here: [String]
        package let missing: [String]

        package init(role: String, needed: Int, here: [String], missing: [String]) {
            (self.role, self.needed, self.here, self.missing) = (role, needed, here, missing)
        }

        /// The role's only key, if its private half is not here.
        package var missingOnlyKey: String? { here.isEmpty && missing.count == 1 ? missing[0] : nil }

        /// Whether the loss of any one key leaves too few to sign.
        package var hasNoSpare: Bool { here.count + missing.count == needed }
    }

    /// root, targets, channels by name, and online.
    package let rows: [Row]

    package init(_ trust: ReleaseTrust, files: any FileOperations) throws(SigningError) {
        let folder = KeyFolder(trust.folder, files: files)
        let names = try KeyNames(folder)
        let channels = trust.channels.compactMap { channel in
            trust.targets.delegation(to: channel.text).map { (TrustRole.channel(channel), $0.keys) }
        }
        let roles: [(TrustRole, RoleKeys)] =
            [(.root, trust.root.keys(of: "root")), (.targets, trust.root.keys(of: "targets"))] + channels
            + [(.online, trust.root.keys(of: "snapshot"))]
        var rows: [Row] = []
        for (role, keys) in roles {
            var (here, missing): ([String], [String]) = ([], [])
            for (id, key) in keys.keys {
                guard let name = names.name(of: key) else {
                    missing.append("\(KeyID(id))")
                    continue
                }
                let (hasKey, hasSigner) = (try folder.hasPrivateKey(name), try folder.hasSigner(name))
                if hasKey || hasSigner { here.append(name) } else { missing.append(name) }
            }
            rows.append(
                Row(role: role.description, needed: keys.threshold, here: here.sorted(), missing: missing.sorted())
            )
        }
        self.rows = rows
    }

    package subscript(role: TrustRole) -> Row? { rows.first { $0.role == role.description } }

    package var json: JSON {
        .array(
            rows.map { row in
                .fields([
                    ("role", .text(row.role)), ("needed", .integer(row.needed)),
                    ("here", .array(row.here.map { .text($0) })), ("missing", .array(row.missing.map { .text($0) })),
                ])
            }
        )
    }
}
