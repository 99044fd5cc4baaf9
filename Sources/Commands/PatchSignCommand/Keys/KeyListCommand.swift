import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// `patchsign key list`.
struct KeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the keys of a folder and the roles that they sign for.",
        discussion: """
            Encrypted keys stay closed: their kind is read from NAME.pub in the same folder. Roles are read from
            root.json and targets.json there, if they exist.

            EXAMPLES
              patchsign key list --keys Keys
              patchsign key list --keys Keys --json
            """
                + exitCodes(
                    [
                        .refused: "root.json or targets.json is not valid",
                        .malformed: "a file is malformed",
                    ],
                    usual: .done,
                    .disk
                )
    )

    @Option(help: ArgumentHelp("The folder with keys.", valueName: "dir"))
    var keys: String

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await runCommand(json: json) { () async throws(Failure) in
            let inventory = try signing { () throws(SigningError) in
                try KeyInventory(FilePath(argument: keys), policy: .ofThisProcess, files: DiskFiles())
            }
            let console = Console.standardOutput
            guard !json else { return console.line(inventory.json.pretty()) }
            guard !inventory.rows.isEmpty else { return console.line("there is no key in \(printable(keys))") }
            var table = Table(["FILE", "KIND", "KEY ID", "ROLES", "PRIVATE HALF"])
            for row in inventory.rows {
                table.add([
                    Table.Cell(row.file), Table.Cell(row.publicKey?.kind.description ?? "unknown"),
                    Table.Cell(row.keyID.map { $0.hex.prefix(12) + "…" } ?? "unknown"),
                    Table.Cell(row.roles.isEmpty ? "none" : row.roles.joined(separator: ", ")),
                    Table.Cell(row.holding.rawValue),
                ])
            }
            table.write(to: console)
        }
    }
}
