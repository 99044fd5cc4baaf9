import ArgumentParser
import CommandSupport
import DeviceOutput
import PatchFormat
import PatchSync
import Terminal

struct UnblockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unblock",
        abstract: "Forget that versions failed here or were rolled back by hand: the next sync takes them again.",
        discussion: """
            Failed trials and failed transfers, of the patches that are named, or of all of them.

            EXAMPLES
              patchsync unblock --store /var/lib/app
              patchsync unblock --store /var/lib/app web fix-cart-total
            """
                + exitCodes(
                    [
                        .done: "done, also where nothing had failed"
                    ],
                    usual: .disk,
                    .busy
                )
    )

    @OptionGroup var options: StoreOptions

    @Argument(
        help: ArgumentHelp("These alone.", valueName: "patch"),
        transform: parsed
    )
    var patches: [PatchID] = []

    func run() async throws {
        try await runCommand(json: options.json, work)
    }

    private func work() async throws(Failure) {
        let device = try await options.opened()
        let labels = try await reporting { () throws(SyncError) in
            try await device.forgetFailures(of: patches.isEmpty ? nil : Set(patches))
        }
        guard !options.json else {
            return Console.standardOutput.line(JSON.fields([("unblocked", .array(labels.map(\.json)))]).line)
        }
        for label in labels { Console.standardOutput.line("may be tried again: \(label)") }
        Console.standardOutput.line(labels.isEmpty ? "nothing was blocked" : "next: patchsync sync")
    }
}

extension Label {
    fileprivate var json: JSON {
        .fields([("patchId", .text(patchID.text)), ("version", .text(version.text))])
    }
}
