import ArgumentParser
import CommandKit
import DeviceOutput
import PatchFormat
import PatchSync
import Patchline

struct PostponeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "postpone",
        abstract: "Delay the start of new versions.",
        discussion: """
            New versions are still downloaded. They start after the delay, at the next
            launch or reload. `patchsync switch` starts them earlier and ends the delay.
            Mandatory versions and removals are not delayed. The device's owner limits the
            total delay (`patchsync set --postpone-limit`).

            EXAMPLES
              patchsync postpone --store /var/lib/app 2h
              patchsync postpone --store /var/lib/app --end
            """
                + exitCodes(
                    [
                        .refused: "the delay exceeds the owner's limit"
                    ],
                    usual: .done,
                    .disk,
                    .busy
                )
    )

    @OptionGroup var options: StoreOptions

    @Argument(help: ArgumentHelp("How long to delay, from now: 45m, 2h, 1d.", valueName: "time"))
    var time: DurationArgument?

    @Flag(help: "End the delay.")
    var end = false

    func validate() throws {
        if (time == nil) != end { throw ValidationError("specify a duration such as 2h, or --end") }
    }

    func run() async throws {
        try await runCommand(json: options.json, work)
    }

    private func work() async throws(Failure) {
        let device = try await options.opened()
        let out = Console.standardOutput
        guard let time else {
            let was = try await reporting { () throws(SyncError) in try await device.endPostponement() }
            if was { device.note([.postponementEnded], by: "postpone") }
            guard !options.json else { return out.line(JSON.fields([("ended", .bool(was))]).line) }
            return out.line(was ? "nothing is postponed any more" : "nothing was postponed")
        }
        let until = try await reporting { () throws(SyncError) in try await device.postpone(for: time.duration) }
        let limit = device.configuration.policy.postponeLimit
        guard let until else {
            throw Self.refusal(limit: limit)
        }
        device.note([.postponed(until: until)], by: "postpone")
        let isShorter = until < device.now().adding(time.duration).adding(.seconds(-5))
        guard !options.json else {
            return out.line(JSON.fields([("until", .text(until.description)), ("shortened", .bool(isShorter))]).line)
        }
        out.line(
            "postponed until \(until)" + (isShorter ? ", the most that this device's owner allows" : "")
        )
    }

    /// The failure of a postponement, because the device's owner limits the total delay.
    static func refusal(limit: Duration) -> Failure {
        Failure(
            limit == .zero
                ? "this device's owner allows no postponing"
                : "this device's owner allows no more than \(DurationText(limit)) in a row",
            hint: "`patchsync set --postpone-limit` changes that.",
            code: .refused
        )
    }
}
