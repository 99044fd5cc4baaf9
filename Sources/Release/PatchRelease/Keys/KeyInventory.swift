package import PatchFormat
package import PatchStore
package import PatchCrypto
import PatchTrust
package import SystemPackage

/// The keys of a folder: their kinds, their storage and the roles that list them.
package struct KeyInventory: Sendable {
    package enum Holding: String, Sendable {
        case encrypted
        case clear = "NOT encrypted"
        case command = "external signer"
        case elsewhere = "not here"
    }

    package struct Row: Sendable {
        package let file: String
        package let holding: Holding
        /// Nil for an encrypted key without a `.pub` file.
        package let publicKey: PublicKey?
        /// The id that the roles list or would list.
        ///
        /// For an entry key, the id in entry lists.
        package let keyID: SHA256Digest?
        package let roles: [String]
    }

    /// The display name for the entry key's use, which is not a TUF role.
    package static let entries = "entries"

    package let rows: [Row]

    package init(_ folder: FilePath, policy: KeyPolicy, files: any FileOperations) throws(SigningError) {
        let names = try onDisk { () throws(FileError) in try files.list(folder) }
        let isTrusted = names.contains(ReleaseTrust.rootFile) && names.contains(ReleaseTrust.targetsFile)
        let trust = isTrusted ? try ReleaseTrust(folder: folder, policy: policy, files: files) : nil
        var rows: [Row] = []
        for name in names {
            guard let found = try Self.look(at: name, among: names, in: folder, files: files) else { continue }
            let stem = FilePath(name).stem ?? name
            let listed = found.publicKey.flatMap { key in trust?.keyID(of: key) }
            rows.append(
                Row(
                    file: name,
                    holding: found.holding,
                    publicKey: found.publicKey,
                    keyID: listed ?? found.publicKey.map { KeyFolder.id(of: $0, named: stem).digest },
                    roles: (found.publicKey.flatMap { trust?.roles(of: $0) } ?? [])
                        + (stem == RootOfTrustPlan.entry ? [Self.entries] : [])
                )
            )
        }
        self.rows = rows
    }

    /// Returns nil if the file is not a key, and for a `.pub` whose private half has its own row.
    private static func look(
        at name: String,
        among names: [String],
        in folder: FilePath,
        files: any FileOperations
    ) throws(SigningError) -> (holding: Holding, publicKey: PublicKey?)? {
        let file = folder.at(name)
        let stem = file.stem ?? ""
        switch file.extension {
        case "key":
            let pem = try onDisk { () throws(FileError) in try files.read(file, limit: Limits.keyFile) }
            do throws(KeyError) {
                return (.clear, try PrivateKey(pem: pem, passphrase: nil).publicKey)
            } catch .needsPassphrase {
                let known = names.contains("\(stem).pub")
                return (.encrypted, known ? try PublicKey(file: folder.at("\(stem).pub"), files: files) : nil)
            } catch { throw .key(file, error) }
        case KeyReference.signerExtension: return (.command, try ExternalSigner(file, files: files).publicKey)
        case "pub":
            let isOther = names.contains("\(stem).key") || names.contains("\(stem).\(KeyReference.signerExtension)")
            return isOther ? nil : (.elsewhere, try PublicKey(file: file, files: files))
        case nil, _?: return nil
        }
    }

    package var json: JSON {
        .fields([
            (
                "keys",
                .array(
                    rows.map { row in
                        .fields([
                            ("file", .text(row.file)), ("kind", row.publicKey.map { .text($0.kind.description) }),
                            ("keyid", row.keyID.map { .text($0.hex) }),
                            ("roles", .array(row.roles.map { .text($0) })),
                            ("encrypted", row.holding.isEncrypted.map { .bool($0) }),
                            ("holding", .text("\(row.holding)")),
                        ])
                    }
                )
            )
        ])
    }
}

extension KeyInventory.Holding {
    /// Nil if the folder does not contain the private half.
    var isEncrypted: Bool? {
        switch self {
        case .encrypted: true
        case .clear: false
        case .command, .elsewhere: nil
        }
    }
}
