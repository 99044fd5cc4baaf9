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
        abstract: "Makes an app's keys and its root of trust.",
        discussion: """
            Makes RSA keys for the roles root and targets, for each channel (one for each holder), the server's online \
            key and the pipeline's entry key, as encrypted PKCS#8; root.json, which devices start from; and \
            targets.json, which names who may sign for which channel. Nothing that exists is replaced. What the online \
            key signs travels with every update: three signatures of 384 bytes with RSA of 3072 bits, of 64 with \
            --online-key ed25519.

            Devices accept a new root of trust only if root's keys signed it. So root has a second key, root-recovery.key: keep
            it on another medium at another place. If root.key is lost, it signs the next root; if both are lost, the app can
            never be changed again. On a terminal, init asks how many people hold root and targets keys. --recovery-key,
            --no-recovery-key and any holder, threshold or public key of root or targets decide without a question.

            A key that was made elsewhere comes as its public half: --public root-bob=bob.pub is bob's key of root, \
            --public targets=targets.pub the only one of targets. When those at hand are not enough to sign root and \
            targets, trust.draft stands in their place: its holders run `patchsign root sign`, then \
            `patchsign root publish`.

            The online key belongs to one app. With --public online=FILE do not name a key of another app: `patchsrv init`
            refuses to serve two apps with one online key, because its holder, or a thief, could mix up their metadata.

            Keep root and targets keys offline. The server needs online.key, targets.json and root.json.

            EXAMPLES
              patchsign init --app com.example.shop --keys Keys
              patchsign init --app com.example.shop --keys Keys --recovery-key --passphrase-file secret.txt
              patchsign init --app com.example.shop --keys Keys --channel production --channel beta \\
                --holder production=alice --holder production=bob --threshold production=2
            """
                + exitCodes(
                    [
                        .disk: "cannot write",
                        .conflict: "a file is there already",
                    ],
                    usual: .done
                )
    )

    @Option(help: ArgumentHelp("The app's id, such as com.example.shop.", valueName: "app"), transform: parsed)
    var app: AppID

    @Option(help: ArgumentHelp("The folder to put them in; made when it is missing.", valueName: "dir"))
    var keys: String

    @Option(
        name: .customLong("channel"),
        help: ArgumentHelp("A channel; may stand several times. Default: production and beta.", valueName: "name")
    )
    var channels: [String] = []

    @Option(
        name: .customLong("holder"),
        help: ArgumentHelp("One key of a role and whose it is; may stand several times.", valueName: "role=name")
    )
    var holders: [Assignment] = []

    @Option(
        name: .customLong("threshold"),
        help: ArgumentHelp("How many of a role's keys must sign. Default: 1.", valueName: "role=count")
    )
    var thresholds: [Assignment] = []

    @Option(
        name: .customLong("public"),
        help: ArgumentHelp(
            "A public key that was made elsewhere, and whose it is; may stand several times.",
            valueName: "role[-name]=pubfile"
        )
    )
    var publicKeys: [Assignment] = []

    @Flag(
        inversion: .prefixedNo,
        help: "Make a second key of root, for the day when the first is lost. Default: where root has one key."
    )
    var recoveryKey: Bool?

    @OptionGroup var protection: ProtectionOptions

    @Option(help: ArgumentHelp("The size of the keys.", valueName: "bits"))
    var bits = 3_072

    @Option(help: ArgumentHelp("The kind of the server's online key: rsa or ed25519.", valueName: "kind"))
    var onlineKey = RoleKeyKind.rsa

    @OptionGroup var time: TimeOption

    @Flag(help: "Print what was made as JSON.")
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
        return json ? .one(recovery: true) : try KeyHoldersQuestion().answer()
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
