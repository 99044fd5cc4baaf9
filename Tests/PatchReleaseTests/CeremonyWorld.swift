import PatchFormat
import PatchRelease
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

/// Machines of two key holders on one disk in memory, each with its own copy of an app's root of trust.
///
/// Root is two of three (`root`, `other`, `second`), all else one of one.
struct CeremonyWorld {
    static let time = Workbench.time
    static let rules = TrustRules(policy: .forTests, entryKeys: [])

    /// Keys that nobody lists yet.
    static let fresh: [PrivateKey] = (0..<3).compactMap { _ in try? PrivateKey.generate(.rsa(bits: 2_048)) }

    let files: FaultyFiles

    init() throws {
        files = try Self.made.get().reopened()
    }

    /// Signed once, for every test starts from the same.
    private static let made = Result { () throws -> FaultyFiles in
        let plan = try RootOfTrustPlan(
            app: Workbench.app,
            channels: ["production", "beta"],
            holders: [("root", "alice"), ("root", "bob"), ("root", "carol")],
            thresholds: [("root", 2)]
        )
        let roles = try plan.roles(
            keys: [
                "root-alice": try TestKey.root.key, "root-bob": try TestKey.other.key,
                "root-carol": try TestKey.second.key, "targets": try TestKey.targets.key,
                "production": try TestKey.production.key, "beta": try TestKey.beta.key,
                "online": try TestKey.online.key, "entry": try TestKey.entry.key,
            ],
            at: time
        )
        let files = FaultyFiles()
        for machine in ["/alice", "/bob"] as [FilePath] {
            try files.makeDirectory(machine)
            try files.write(roles.root.fileBytes, to: machine.appending("root.json"))
            try files.write(roles.targets.fileBytes, to: machine.appending("targets.json"))
            try files.syncDirectory(machine)
        }
        return files
    }

    func path(_ machine: String, _ file: String? = nil) -> FilePath {
        let folder = FilePath("/").appending(machine)
        return file.map { folder.appending($0) } ?? folder
    }

    func folder(_ machine: String = "alice", on files: FaultyFiles? = nil) -> TrustFolder {
        TrustFolder(path(machine), policy: .forTests, files: files ?? self.files)
    }

    func roles(_ machine: String = "alice") throws -> TopRoles {
        try #require(try folder(machine).current())
    }

    /// What a draft would have in it.
    func draft(_ edits: [TrustEdit], validity: Duration = .days(365)) throws -> TrustDraft {
        try TrustDraft(edits, on: try roles(), at: Self.time, validity: validity, rules: Self.rules)
    }

    func change(_ draft: TrustDraft) throws -> TrustChange {
        try TrustChange(draft, from: try roles(), rules: Self.rules)
    }

    /// The draft with signatures of these.
    func signed(_ draft: TrustDraft, by signers: [SigningKey]) throws -> TrustDraft {
        var draft = draft
        for signer in signers { draft = try change(draft).signed(with: signer) }
        return draft
    }

    func complete(_ edits: [TrustEdit]) throws -> TrustDraft {
        try signed(
            try draft(edits),
            by: [TestKey.root, .other, .targets].map { try $0.signer }.filter { signer in
                try !change(try draft(edits)).rolesToSign(with: signer.publicKey).isEmpty
            }
        )
    }

    func names(_ machine: String = "alice") throws -> [String] {
        try files.list(path(machine))
    }
}

/// A key that was made for a test, as a signer.
func signer(_ key: PrivateKey, _ name: String = "fresh.key") throws -> SigningKey {
    let files = FaultyFiles()
    let file = FilePath("/").appending(name)
    try files.write(try key.unencryptedPEM(), to: file)
    return try SigningKey(file, passphrase: nil, policy: .forTests, files: files)
}

func id(of key: PublicKey) -> SHA256Digest { TUFKey(key).id }

extension TestKey {
    var publicKey: PublicKey {
        get throws { try key.publicKey }
    }
}
