import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// `patchsign init`: keys and the root of trust of an app.
struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make an app's keys and its root of trust.",
        discussion: """
            Makes RSA keys for root, targets, each holder of each channel, the server (online) and the pipeline
            (entry), as encrypted PKCS#8. Makes root.json, which devices start from, and targets.json, which lists the
            keys of each channel. Existing files are never replaced. Each update contains three signatures of the
            online key, of 384 bytes each with RSA of 3072 bits, or 64 with --online-key ed25519.

            Devices accept a new root only if root's keys signed it. root-recovery.key is a second root key: store it
            on another medium at another place. If root.key is lost, it signs the next root. If both are lost, the app
            can never be changed again. On a terminal, init asks for the number of holders of root and targets keys,
            unless you give --recovery-key, --no-recovery-key, or a holder, threshold or public key of root or
            targets.

            --public adds a key that was made elsewhere: --public root-bob=bob.pub is bob's root key, --public
            targets=targets.pub the only targets key. If the keys here are not enough to sign root and targets, init
            writes trust.draft instead. Its holders run `patchsign root sign`, then `patchsign root publish`.

            Give each app its own online key: `patchsrv init` refuses to serve two apps with one key, because its
            holder, or a thief, could mix up their metadata. Keep root and targets keys offline. The server needs
            online.key, targets.json and root.json.

            EXAMPLES
              patchsign init --app com.example.shop --keys Keys
              patchsign init --app com.example.shop --keys Keys --recovery-key --passphrase-file secret.txt
              patchsign init --app com.example.shop --keys Keys --channel production --channel beta \\
                --holder production=alice --holder production=bob --threshold production=2
            """
                + exitCodes(
                    [
                        .disk: "cannot write",
                        .conflict: "a file already exists",
                    ],
                    usual: .done
                )
    )

    @Option(help: ArgumentHelp("The app's id, such as com.example.shop.", valueName: "app"), transform: parsed)
    var app: AppID

    @Option(help: ArgumentHelp("The folder of the new keys. It is created if it is missing.", valueName: "dir"))
    var keys: String

    @Option(
        name: .customLong("channel"),
        help: ArgumentHelp("A channel. Repeatable. Default: production and beta.", valueName: "name")
    )
    var channels: [String] = []

    @Option(
        name: .customLong("holder"),
        help: ArgumentHelp("A role's key and its holder's name. Repeatable.", valueName: "role=name")
    )
    var holders: [Assignment] = []

    @Option(
        name: .customLong("threshold"),
        help: ArgumentHelp("The number of a role's keys that must sign. Default: 1.", valueName: "role=count")
    )
    var thresholds: [Assignment] = []

    @Option(
        name: .customLong("public"),
        help: ArgumentHelp(
            "A public key that was made elsewhere, for a role and holder. Repeatable.",
            valueName: "role[-name]=pubfile"
        )
    )
    var publicKeys: [Assignment] = []

    @Flag(
        inversion: .prefixedNo,
        help: "Make a second root key as a backup of the first. Default: if root has one key."
    )
    var recoveryKey: Bool?

    @OptionGroup var protection: ProtectionOptions

    @Option(help: ArgumentHelp("The size of RSA keys.", valueName: "bits"))
    var bits = 3_072

    @Option(help: ArgumentHelp("The kind of the server's online key: rsa or ed25519.", valueName: "kind"))
    var onlineKey = RoleKeyKind.rsa

    @OptionGroup var time: TimeOption

    @Flag(help: "Print the result as JSON.")
    var json = false

    static let progressLabel = "Making keys"

    func run() async throws {
        try await runCommand(json: json) { () async throws(Failure) in
            let plan = try plan(try people())
            let folder = FilePath(argument: keys)
            let time = try time.time()
            let elsewhere = try madeElsewhere(plan)
            let maker = try signing { () throws(SigningError) in
                try RootOfTrustMaker(
                    plan,
                    elsewhere: elsewhere,
                    policy: .ofThisProcess,
                    in: folder,
                    files: DiskFiles()
                )
            }
            // Asked first, because creating the keys is slow.
            let protect = try protection.resolve()
            let made = try await signing { () async throws(SigningError) in
                try await maker.makeKeys(
                    bits: bits,
                    online: onlineKey.keyKind(bits: bits),
                    progress: reporter(Self.progressLabel)
                )
            }
            let change = try signing { () throws(SigningError) in
                try maker.write(made, at: time, protection: protect)
            }
            InitReport(
                plan: plan,
                folder: folder,
                keys: made.mapValues(\.publicKey).merging(elsewhere) { made, _ in made },
                elsewhere: Set(elsewhere.keys),
                isComplete: change.isComplete,
                isEncrypted: !protection.unencryptedKeys,
                leavesKeysToGit: try signing { () throws(SigningError) in
                    try KeyFolder(folder, files: DiskFiles()).leavesKeysToGit()
                }
            ).write(json: json)
        }
    }

    /// Whether the options name the holders of root or targets keys.
    private var namesHolders: Bool {
        let rows = holders.map(\.name) + thresholds.map(\.name) + publicKeys.map(\.name)
        return rows.contains { row in ["root", "targets"].contains { row == $0 || row.hasPrefix("\($0)-") } }
    }

    /// The key holders from the options or from the answers at the terminal; without a terminal, a single holder.
    private func people() throws(Failure) -> KeyHolders? {
        guard !namesHolders else { return recoveryKey == true ? .one(recovery: true) : nil }
        if let recoveryKey { return .one(recovery: recoveryKey) }
        guard !json else { return .one(recovery: true) }
        try refuseFolderWithRoot()
        return try KeyHoldersQuestion().answer()
    }

    /// Refuses a folder that has a root of trust before the user is asked, because no answer helps there.
    private func refuseFolderWithRoot() throws(Failure) {
        let (folder, files) = (FilePath(argument: keys), DiskFiles())
        let hasRoot = (try? files.status(of: folder.at(ReleaseTrust.rootFile))) ?? nil != nil
        guard hasRoot else { return }
        let plan = try plan(.one(recovery: true))
        _ = try signing { () throws(SigningError) in
            try RootOfTrustMaker(plan, policy: .ofThisProcess, in: folder, files: files)
        }
    }

    /// - Parameter people: nil if the options name all holders.
    private func plan(_ people: KeyHolders?) throws(Failure) -> RootOfTrustPlan {
        var counts: [(role: String, count: Int)] = people?.thresholds ?? []
        for threshold in thresholds {
            guard let count = Int(threshold.value) else {
                throw Failure("--threshold \(threshold.name)=\(threshold.value) is not a number", code: .usage)
            }
            counts.append((threshold.name, count))
        }
        do throws(RootOfTrustPlan.Problem) {
            return try RootOfTrustPlan(
                app: app,
                channels: channels,
                holders: (people?.holders ?? []) + holders.map { ($0.name, $0.value) } + holdersElsewhere(),
                thresholds: counts,
                recovery: people?.hasRecoveryKey ?? false
            )
        } catch { throw Failure(SigningError.plan(error)) }
    }

    /// The holders that `--public root-bob=FILE` names.
    private func holdersElsewhere() -> [(role: String, name: String)] {
        publicKeys.compactMap { row in
            let parts = row.name.split(separator: "-", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return nil }
            let isKnown = holders.contains { $0.name == parts[0] && $0.value == parts[1] }
            return isKnown ? nil : (parts[0], parts[1])
        }
    }

    private func madeElsewhere(_ plan: RootOfTrustPlan) throws(Failure) -> [String: PublicKey] {
        var keys: [String: PublicKey] = [:]
        for row in publicKeys {
            guard plan.keyNames.contains(row.name), keys[row.name] == nil else {
                throw Failure(
                    "--public \(row.name)=… names no key of this plan, or one twice",
                    hint: "its keys are \(plan.keyNames.joined(separator: ", "))",
                    code: .usage
                )
            }
            keys[row.name] = try TrustArgument.key(row.value)
        }
        return keys
    }
}

/// `name=value` on a command line.
struct Assignment: ExpressibleByArgument {
    let name: String
    let value: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        (name, value) = (parts[0], parts[1])
    }
}
