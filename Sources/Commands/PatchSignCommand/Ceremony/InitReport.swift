import PatchFormat
import PatchRelease
import PatchCrypto
import PatchTrust
import SystemPackage
import CommandKit

/// The result of `patchsign init`.
struct InitReport {
    let plan: RootOfTrustPlan
    let folder: FilePath
    let keys: [String: PublicKey]
    /// Names of keys whose private halves are elsewhere.
    let elsewhere: Set<String>
    /// False if other holders still have to sign the draft.
    let isComplete: Bool
    let isEncrypted: Bool
    /// Whether an existing `.gitignore` does not list private keys.
    let leavesKeysToGit: Bool

    func write(json: Bool) {
        let console = Console.standardOutput
        guard !json else { return console.line(self.json.pretty()) }
        console.line(
            isComplete
                ? "made the root of trust of \(plan.app) in \(printable(folder.string))"
                : "made keys of \(plan.app) in \(printable(folder.string)), and a draft of its root of trust"
        )
        var table = Table(["ROLE", "KEYS", "NEEDED"])
        for role in ["root", "targets"] + plan.channels.map(\.text) {
            table.add([
                Table.Cell(role), Table.Cell(plan.keys(of: role).map(file).joined(separator: ", ")),
                "\(plan.threshold(of: role))",
            ])
        }
        table.add(["snapshot, timestamp, dial", Table.Cell(file(RootOfTrustPlan.online)), "1"])
        table.add(["entries", Table.Cell(file(RootOfTrustPlan.entry)), "1"])
        table.write(to: console)
        if !isEncrypted { console.line("the private keys are NOT encrypted") }
        guard isComplete else {
            return console.line(
                "next: the holders sign \(TrustFolder.draftFile) with `patchsign root sign`; then `patchsign root publish`"
            )
        }
        for line in keeping { console.line(line) }
        console.line("next: keep root and targets keys offline; give devices root.json")
    }

    /// The keys to keep, and the consequence of their loss.
    private var keeping: [String] {
        let place = printable(folder.string)
        let keys = plan.keys(of: "root")
        let hasRecovery = keys.contains(RootOfTrustPlan.recoveryKey)
        var lines: [String] = []
        if hasRecovery {
            lines += [
                "move \(place)/\(RootOfTrustPlan.recoveryKey).key to another medium at another place now, with its passphrase:",
                keys.count == 2
                    ? "  if root.key is lost, it signs a new root; if both are lost, no device accepts a new root, and the app ends"
                    : "  it replaces one lost key of root; if two are lost, no device accepts a new root, and the app ends",
            ]
        } else if keys.count == plan.threshold(of: "root") {
            lines.append(
                keys.count == 1
                    ? "root has one key: if \(file(keys[0])) is lost, no device accepts a new root, and the app ends; keep a copy"
                    : "every key of root must sign: if one is lost, no device accepts a new root, and the app ends; keep copies"
            )
        }
        if leavesKeysToGit {
            lines.append("\(place)/\(KeyFolder.ignoreFile) does not name *.key: add it before you commit anything")
        }
        return lines
    }

    private func file(_ name: String) -> String {
        elsewhere.contains(name) ? "\(name).pub" : "\(name).key"
    }

    private var json: JSON {
        .fields([
            ("app", .text(plan.app.text)), ("folder", .text(folder.string)), ("encrypted", .bool(isEncrypted)),
            ("complete", .bool(isComplete)),
            (
                "recoveryKey",
                plan.keys(of: "root").contains(RootOfTrustPlan.recoveryKey)
                    ? .text("\(RootOfTrustPlan.recoveryKey).key") : nil
            ),
            (
                "roles",
                .fields(
                    (["root", "targets"] + plan.channels.map(\.text)).map { role in
                        (
                            role,
                            .fields([
                                ("keys", .array(plan.keys(of: role).map { .text(file($0)) })),
                                ("threshold", .integer(plan.threshold(of: role))),
                            ])
                        )
                    }
                )
            ),
            (
                "publicKeys",
                .fields(
                    plan.keyNames.map { name in
                        (name, keys[name].map { .text($0.material.hex) })
                    }
                )
            ),
        ])
    }
}
