package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust

/// The keys of each role that are in a folder: as a private half, or as the description of an external signer.
///
/// No key is opened. A key is recognised by its `NAME.pub` in the folder.
package struct KeyPresence: Equatable, Sendable {
    package struct Row: Equatable, Sendable {
        package let role: String
        /// The number of keys that must sign.
        package let needed: Int
        /// Names of keys.
        ///
        /// A key without a public half in the folder is shown by the beginning of its id.
        package let here: [String]
        package let missing: [String]

        package init(role: String, needed: Int, here: [String], missing: [String]) {
            (self.role, self.needed, self.here, self.missing) = (role, needed, here, missing)
        }

        /// The role's only key, if its private half is not in the folder.
        package var missingOnlyKey: String? { here.isEmpty && missing.count == 1 ? missing[0] : nil }

        /// Whether the role has exactly as many keys as must sign, so that it cannot lose any.
        package var hasNoSpare: Bool { here.count + missing.count == needed }
    }

    /// Rows for root, targets, the channels by name, and online.
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
