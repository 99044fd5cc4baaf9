import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// `patchsign rotate`: replaces a key by a new one.
struct RotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Replace a key with a new key pair.",
        discussion: """
            NAME is the name of NAME.pub in the folder. The new pair is NAME.next until root.json or targets.json list
            it. Then it becomes NAME, and the old pair moves to retired/. Private keys are never deleted. `rotate
            entry` changes no root: the next release is signed with the new key.

            A root key that is the only one must be in the folder to be replaced. Every key of the folder that may
            sign, and that opens, signs. If more signatures are needed, trust.draft is written for the other holders.
            After an interruption, run the same command again.

            EXAMPLES
              patchsign rotate online --keys Keys
              patchsign rotate online --keys Keys --kind ed25519
              patchsign rotate entry --keys Keys
              patchsign rotate root-alice --keys Keys --passphrase-file alice.pass
            """
                + exitCodes(
                    [
                        .disk: "a file could not be read or written, or the key does not exist",
                        .conflict: "another draft waits, or one with more changes",
                        .partial: "done in part: a draft waits for other signatures",
                    ],
                    usual: .done,
                    .refused,
                    .malformed
                )
    )

    @Argument(help: ArgumentHelp("The key to replace: online, entry, or the name of a role's key.", valueName: "name"))
    var name: String

    @OptionGroup(title: "Keys") var keys: KeyOptions
    @OptionGroup var newKey: NewKeyOptions

    @Option(help: ArgumentHelp("The kind of the new key: rsa, or ed25519 for a role.", valueName: "kind"))
    var kind = RoleKeyKind.rsa

    @Option(help: ArgumentHelp("Validity of the changed root and targets. Default: 365d.", valueName: "365d"))
    var expires: Validity?

    @OptionGroup var time: TimeOption

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        if name.isEmpty || name.contains("/") || name.hasSuffix(".next") {
            throw ValidationError("NAME is that of a key pair in the folder, without .key or .pub")
        }
        guard name != RootOfTrustPlan.entry || kind == .rsa else { throw ValidationError("an entry key is RSA") }
    }

    func run() async throws {
        let isPublished = try await runCommand(json: json) { () async throws(Failure) -> Bool in
            guard name != RootOfTrustPlan.entry else {
                try rotateEntry()
                return true
            }
            let work = try CeremonyWork(keys, time: try time.time(), json: json)
            let rotation = KeyRotation(name, in: work.folder)
            if let pending = work.pending {
                let isMine = try signing { () throws(SigningError) in try rotation.isUnderWay(in: pending) }
                if !isMine { try work.refusePending() }
                if !json {
                    Console.standardOutput.line("continuing with the pair \(name).next, which an earlier call made")
                }
                return try work.carryOut(pending)
            }
            let roles = try signing { () throws(SigningError) in try rotation.roles(in: work.trust) }
            try refuseMissing(work, roles)
            let protection = try newKey.protection(keys, replacing: name)
            let key = try make()
            let draft = try signing { () throws(SigningError) in
                try rotation.draft(
                    key,
                    protection: protection,
                    on: work.trust,
                    at: work.time,
                    validity: expires.forTrust
                )
            }
            return try work.carryOut(draft)
        }
        if !isPublished { throw ResultCode.partial.asError }
    }

    /// Fails if root's only key is missing: it must sign its own successor, so the draft could never be completed.
    private func refuseMissing(_ work: CeremonyWork, _ roles: [TrustRole]) throws(Failure) {
        guard roles.contains(.root), let missing = try work.presence()[.root]?.missingOnlyKey else { return }
        throw Failure(
            KeyPresence.missingOnly(missing, of: .root),
            hint: "put \(missing).key into \(work.folder.folder) for this call, or rotate where it is; if it is lost, "
                + "no device accepts a new root: the app ends, and devices need another one",
            code: .refused
        )
    }

    private func rotateEntry() throws(Failure) {
        let folder = KeyFolder(keys.folder, files: DiskFiles())
        let rotation = EntryKeyRotation(in: folder)
        let console = Console.standardOutput
        let old = try signing { () throws(SigningError) in try folder.publicKey(RootOfTrustPlan.entry) }
        if !json {
            console.line("entry: a new key signs the entries of every release from the next one on; no role changes")
        }
        if try !signing({ () throws(SigningError) in try rotation.isUnderWay() }) {
            let (protection, key) = (try newKey.protection(keys, replacing: name), try make())
            try signing { () throws(SigningError) in try rotation.stage(key, protection: protection) }
        }
        let key = try signing { () throws(SigningError) in
            try rotation.finish()
            return try folder.publicKey(RootOfTrustPlan.entry)
        }
        let id = key.map { EntryKeys.id(of: $0).hex }
        guard !json else {
            return console.line(JSON.fields([("entryKey", id.map { .text($0) }), ("published", .bool(true))]).pretty())
        }
        console.line("entry.key is the new key (\(id?.prefix(8) ?? "")); the old one is in \(KeyFolder.retired)/")
        guard let old else { return console.line("next: make a release") }
        let retired = KeyFolder.retiredName(of: old, named: RootOfTrustPlan.entry)
        console.line(
            "next: make a release; --keep-entry-key \(printable(keys.keys))/\(KeyFolder.retired)/\(retired).pub lists "
                + "the old one beside it once more"
        )
    }

    private func make() throws(Failure) -> PrivateKey {
        let (file, kind) = (keys.folder.at("\(name).key"), kind.keyKind(bits: newKey.bits))
        return try signing { () throws(SigningError) in
            do throws(KeyError) { return try PrivateKey.generate(kind) } catch { throw .key(file, error) }
        }
    }
}

/// The kinds of role keys that can be created.
///
/// Keys of other kinds are made elsewhere.
enum RoleKeyKind: String, ExpressibleByArgument, CaseIterable {
    case rsa, ed25519

    func keyKind(bits: Int) -> KeyKind {
        switch self {
        case .rsa: .rsa(bits: bits)
        case .ed25519: .ed25519
        }
    }
}
