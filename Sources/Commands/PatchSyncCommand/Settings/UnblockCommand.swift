import ArgumentParser
import CommandKit
import DeviceOutput
import PatchFormat
import PatchSync

struct UnblockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unblock",
        abstract: "Allow versions again that failed or were rolled back on this device.",
        discussion: """
            Removes the records of failed trials and failed transfers, of the named
            patches or of all.

            EXAMPLES
              patchsync unblock --store /var/lib/app
              patchsync unblock --store /var/lib/app web fix-cart-total
            """
                + exitCodes(
                    [
                        .done: "done, or nothing had failed"
                    ],
                    usual: .disk,
                    .busy
                )
    )

    @OptionGroup var options: StoreOptions

    @Argument(
        help: ArgumentHelp("Only these patches.", valueName: "patch"),
        transform: parsed
    )
    var patches: [PatchID] = []

    func run() async throws {
        try await runCommand(json: options.json, work)
    }

    private func work() async throws(Failure) {
        let device = try await options.opened()
        let forgotten = try await reporting { () throws(SyncError) in
            try await device.forgetFailures(of: patches.isEmpty ? nil : Set(patches))
        }
        guard !options.json else {
            let unlisted = forgotten.unlisted
            let members: [(String, JSON?)] = [
                ("unblocked", .array(forgotten.labels.map(\.json))),
                ("unlisted", unlisted.isEmpty ? nil : .array(unlisted.map(\.json))),
            ]
            return Console.standardOutput.line(JSON.fields(members).line)
        }
        for line in forgotten.lines { Console.standardOutput.line(line) }
    }
}

extension ForgottenFailures {
    var lines: [String] {
        guard !labels.isEmpty || !unlisted.isEmpty else { return ["nothing was blocked"] }
        return labels.map { "may be tried again: \($0)" }
            + unlisted.map { "withdrawn, and not installed again: \($0)" }
            + (labels.isEmpty ? [] : ["next: patchsync sync"])
    }
}

extension Label {
    fileprivate var json: JSON {
        .fields([("patchId", .text(patchID.text)), ("version", .text(version.text))])
    }
}
