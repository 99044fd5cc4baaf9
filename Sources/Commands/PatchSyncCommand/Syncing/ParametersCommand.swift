import ArgumentParser
import CommandKit
import DeviceOutput
import PatchFormat
import PatchSync

struct ParametersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "parameters",
        abstract: "Show the channel's online parameters, as of the last download. No network.",
        discussion: """
            A sync downloads them, and a running `patchsync serve` does every half hour.
            If that fails, the last valid ones stay.

            EXAMPLES
              patchsync parameters --store /var/lib/app
              patchsync parameters --store /var/lib/app --json
            """
                + exitCodes(
                    [
                        .done: "done, or there are none",
                        .malformed: "the stored file is malformed; a sync repairs it",
                    ],
                    usual: .disk
                )
    )

    @OptionGroup var options: StoreOptions

    func run() async throws {
        try await runCommand(json: options.json, work)
    }

    private func work() async throws(Failure) {
        let device = try await options.opened()
        let parameters = try await reporting { () throws(SyncError) in try device.parameters() }
        if options.json { Console.standardOutput.line(parameters.shown.line) } else { parameters.print() }
    }
}

extension OnlineParameters {
    fileprivate func print() {
        let out = Console.standardOutput
        guard !values.isEmpty else { return out.line("\(app) \(channel): no parameters") }
        Table(
            ["NAME", "TYPE", "VALUE"],
            rows: values.sorted { $0.key < $1.key }.map { name, value in
                [.init(name.text), .init(value.typeName), .init(printable(value.words))]
            }
        ).write(to: out)
    }
}
