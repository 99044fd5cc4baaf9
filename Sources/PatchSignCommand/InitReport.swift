import PatchFormat
import PatchRelease
import PatchTrust
import SystemPackage
import Terminal

/// What `patchsign init` made.
struct InitReport {
    let plan: RootOfTrustPlan
    let folder: FilePath
    let keys: [String: PrivateKey]
    let isEncrypted: Bool

    func write(json: Bool) {
        let console = Console.standardOutput
        guard !json else { return console.line(self.json.pretty()) }
        console.line("made the root of trust of \(plan.app) in \(printable(folder.string))")
        var table = Table(["ROLE", "KEYS", "NEEDED"])
        for role in ["root", "targets"] + plan.channels.map(\.text) {
            table.add([
                Table.Cell(role), Table.Cell(plan.keys(of: role).map { "\($0).key" }.joined(separator: ", ")),
                "\(plan.threshold(of: role))",
            ])
        }
        table.add(["snapshot, timestamp, dial", "online.key", "1"])
        table.add(["entries", "entry.key", "1"])
        table.write(to: console)
        if !isEncrypted { console.line("the private keys are NOT encrypted") }
        console.line("next: keep root and targets keys offline; give devices root.json")
    }

    private var json: JSON {
        .fields([
            ("app", .text(plan.app.text)), ("folder", .text(folder.string)), ("encrypted", .bool(isEncrypted)),
            (
                "roles",
                .fields(
                    (["root", "targets"] + plan.channels.map(\.text)).map { role in
                        (
                            role,
                            .fields([
                                ("keys", .array(plan.keys(of: role).map { .text("\($0).key") })),
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
                        (name, keys[name].map { .text($0.publicKey.material.hex) })
                    }
                )
            ),
        ])
    }
}
