import ArgumentParser
import CommandKit
import DeviceOutput
import PatchFormat
import PatchSync
import Patchline

struct PostponeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "postpone",
        abstract: "Put off the start of whatever is new for a while. It is fetched all the same.",
        discussion: """
            Neither a launch nor a reload starts what waits before the time is over; `patchsync switch` does, and ends it. How
            long in a row is up to the device's owner (`patchsync set --postpone-limit`). A mandatory version does not wait, and
            nothing keeps a withdrawn one.

            EXAMPLES
              patchsync postpone --store /var/lib/app 2h
              patchsync postpone --store /var/lib/app --end
            """
                + exitCodes(
                    [
                        .refused: "it was put off for as long as the owner allows"
                    ],
                    usual: .done,
                    .disk,
                    .busy
                )
    )

    @OptionGroup var options: StoreOptions

    @Argument(help: ArgumentHelp("For how long from now: 2h, 45m, 1d.", valueName: "time"))
    var time: DurationArgument?

    @Flag(help: "What waits may start again.")
    var end = false

    func validate() throws {
        if (time == nil) != end { throw ValidationError("one of a length of time, such as 2h, and --end is needed") }
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
