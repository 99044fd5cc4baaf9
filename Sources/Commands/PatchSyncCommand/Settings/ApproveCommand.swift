import ArgumentParser
import CommandKit
import DeviceOutput
import PatchChoice
import PatchFormat
import PatchSync
import Patchline

struct ApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approve new versions, on a device that asks (`patchsync set --consent`).",
        discussion: """
            Approves the newest waiting version of each patch, or the named one, and the
            versions it requires. The next sync downloads it. The approval ends when the
            version is no longer listed or is rolled back.

            EXAMPLES
              patchsync approve --store /var/lib/app
              patchsync approve --store /var/lib/app web@1.4.2
            """
                + exitCodes(
                    [
                        .done: "approved, or nothing was waiting",
                        .refused: "no such version is listed",
                    ],
                    usual: .disk,
                    .busy
                )
    )

    @OptionGroup var options: StoreOptions

    @Argument(help: ArgumentHelp("Only this patch, or only this version of it.", valueName: "patch[@version]"))
    var patch: ExplainedPatch?

    func run() async throws {
        try await runCommand(json: options.json, work)
    }

    private func work() async throws(Failure) {
        let device = try await options.opened()
        let approval = try await reporting { () throws(SyncError) in
            try await device.approve(patch?.patchID, patch?.version)
        }
        guard case .approved(let versions) = approval else {
            throw Failure(
                patch.map { "\($0) is not listed" } ?? "no list was verified here yet",
                hint: "`patchsync sync` downloads the list; `patchsync status` shows the waiting versions.",
                code: .refused
            )
        }
        device.note(versions.map { .approved($0.label) }, by: "approve")
        let out = Console.standardOutput
        guard !options.json else {
            return out.line(JSON.fields([("approved", .array(versions.map(\.json)))]).line)
        }
        for version in versions { out.line("approved: \(version.label)") }
        out.line(versions.isEmpty ? "nothing waits for approval" : "next: patchsync sync")
    }
}
