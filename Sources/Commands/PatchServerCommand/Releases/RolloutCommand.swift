import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import ReleaseClient

/// `patchsrv rollout`: the share of devices that may install a version.
struct RolloutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollout",
        abstract: "Show and set the share of devices that may install a version.",
        discussion: """
            Takes effect at once and needs no release key, up to the share that the
            release keys signed. Raising a share or pausing takes a version from no
            device. Setting a share resumes a paused version. Without an action, shows the
            shares in every channel, or in that of --channel.

            A schedule (--ramp) raises the share step by step. `patchsrv serve` or
            `patchsrv refresh` takes each step when it is due; a late step is not made up
            for. A share set by hand, a pause or a withdrawal ends the schedule.

            EXAMPLES
              patchsrv rollout --data /srv/patchline               (shows every channel)
              patchsrv rollout web@2.1 50% --data /srv/patchline   (where it is listed)
              patchsrv rollout web@2.1 pause --reason "checkout errors" --channel production --data /srv/patchline
              patchsrv rollout web@2.1 resume --channel production --data /srv/patchline
              patchsrv rollout web@2.1 --ramp 5%,25%,100% --every 6h --channel production --data /srv/patchline
              patchsrv rollout --default 10% --channel production --data /srv/patchline      (of new versions)
            """
                + exitCodes(
                    [
                        .done: "done, or already set",
                        .usage: KeyOptions.noTerminal,
                        .refused:
                            "refused: above the signed share, not listed, or the token lacks the role; nothing was changed",
                        .network: "the server of --server is unreachable or unavailable",
                        .busy: "another process uses the data folder",
                        .conflict: "the dial's version differs from --expect; nothing was changed",
                    ],
                    usual: .malformed,
                    .disk
                )
    )

    /// The second argument: a share, `pause` or `resume`.
    enum Action: Equatable, Sendable {
        case share(Int)
        case pause
        case resume

        init(_ text: String) throws {
            switch text {
            case "pause": self = .pause
            case "resume": self = .resume
            default:
                do throws(RolloutShareMisread) { self = .share(try RolloutShare(written: text).tenThousandths) } catch {
                    throw ValidationError("\(error); or pause, or resume")
                }
            }
        }
    }

    /// The value of `--default`.
    struct Default: Equatable, Sendable {
        /// Nil for `none`.
        let share: Int?

        init(_ text: String) throws {
            guard text != "none" else {
                share = nil
                return
            }
            do throws(RolloutShareMisread) { share = try RolloutShare(written: text).tenThousandths } catch {
                throw ValidationError("\(error); or none")
            }
        }
    }

    @Argument(help: ArgumentHelp("The version, or a patch for all its versions.", valueName: "patch[@version]"))
    var version: String?

    @Argument(
        help: ArgumentHelp("A share such as 50%, or pause, or resume.", valueName: "share|pause|resume"),
        transform: Action.init(_:)
    )
    var action: Action?

    @OptionGroup(title: "Server") var server: PlaceOptions

    @Option(help: ArgumentHelp("The app. Required if the server has several.", valueName: "app"), transform: parsed)
    var app: AppID?

    @Option(
        help: ArgumentHelp(
            "The channel (default: the only one, or the one that lists the version).",
            valueName: "channel"
        ),
        transform: parsed
    )
    var channel: ChannelName?

    @Flag(help: "Print the result as JSON.")
    var json = false

    @Option(
        help: ArgumentHelp("Raise the share step by step from now on: 1%,5%,25%,100%.", valueName: "shares"),
        transform: RampPart.init(_:)
    )
    var ramp: RampPart?

    @Option(help: ArgumentHelp("Time between two steps of --ramp: 6h, 1d.", valueName: "time"))
    var every: DurationArgument?

    @Option(
        name: .customLong("default"),
        help: ArgumentHelp(
            "Initial share of new versions in this channel, unless a publish sets one; none removes it.",
            valueName: "share|none"
        ),
        transform: Default.init(_:)
    )
    var usual: Default?

    @Option(help: ArgumentHelp("The reason, in one line. Waiting devices show it.", valueName: "text"))
    var reason: String?

    @Option(help: ArgumentHelp("Fail unless the dial still has this version.", valueName: "number"))
    var expect: Int?

    @OptionGroup var passphrase: KeyOptions

    func validate() throws {
        if let fault = RampPart.fault(ramp == nil, every: every?.duration) { throw ValidationError(fault) }
        _ = try request()
    }

    func run() async throws {
        try await reporting(json: json) {
            let request = try request()
            if channel == nil, request.isQuestion { return try await showAll() }
            let named: ChannelName
            if let channel { named = channel } else { named = try await choice().channel(for: request.changes) }
            let place = options(for: named)
            let answer = try await place.dial(request, passphrase)
            place.show(answer) { answer.writeDial(to: $0) }
        }
    }

    private func options(for channel: ChannelName) -> ChannelOptions {
        var names = ChannelNames()
        (names.app, names.channel, names.json) = (app, channel, json)
        var options = ChannelOptions()
        (options.server, options.names) = (server, names)
        return options
    }

    private func choice() async throws -> ChannelChoice {
        let listing = try await server.asking {
            try AppListing(of: AppRepository(server.folder.app(named: app), in: server.folder)).json
        } there: { client in
            let named = app
            let app: AppID
            if let named { app = named } else { app = try await client.onlyApp() }
            return try await client.look("/apps/\(app)")
        }
        return ChannelChoice(listing)
    }

    /// Shows every channel that has a release.
    private func showAll() async throws {
        let choice = try await choice()
        var (answers, hidden): ([JSON], [ChannelName]) = ([], [])
        for channel in choice.channels {
            do {
                answers.append(try await options(for: channel).dial(DialRequest([]), passphrase))
            } catch ServiceError.problem(let problem) where problem.status == 403 {
                hidden.append(channel)
            }
        }
        let console = Console.standardOutput
        if json {
            let rows: [(String, JSON?)] = [("app", .text(choice.app)), ("channels", .array(answers))]
            console.line(JSON.fields(rows).pretty())
        } else {
            for (index, answer) in answers.enumerated() {
                if index > 0 { console.line() }
                answer.writeDial(to: console)
            }
            if choice.offers.isEmpty { console.line(Self.nothing(of: choice.app)) }
        }
        if !hidden.isEmpty { Console.standardError.line(Self.warning(of: hidden)) }
    }

    static func nothing(of app: String) -> String { "\(app) has no release yet" }

    static func warning(of hidden: [ChannelName]) -> String {
        "warning: the token may not see \(hidden.map(\.text).joined(separator: ", "))"
    }

    private func request() throws -> DialRequest {
        if let usual {
            guard version == nil, ramp == nil, reason == nil, expect == nil else {
                throw ValidationError("--default excludes a version: it applies to versions that are published later")
            }
            return DialRequest([], default: .becomes(usual.share))
        }
        guard let version else {
            guard ramp == nil, reason == nil, expect == nil else {
                throw ValidationError("name the version: patchsrv rollout web@2.1 …")
            }
            return DialRequest([])
        }
        guard let (id, subject) = DialChange.subject(version) else {
            throw ValidationError("the version \(DialChange.subjectRule)")
        }
        let why = try reason.map { text in
            guard let reason = DialReason(text) else { throw ValidationError("--reason \(DialReason.rule)") }
            return reason
        }
        return DialRequest(
            try actions().map { DialChange($0, of: id, subject, reason: why) },
            reason: reason,
            expect: expect
        )
    }

    private func actions() throws -> [DialChange.Action] {
        switch (action, ramp) {
        case (_?, _?): throw ValidationError("a share, pause or resume and --ramp exclude each other")
        case (nil, nil): throw ValidationError("give a share such as 50%, pause, resume, or --ramp")
        case (.pause, nil): return [.pause]
        case (.resume, nil): return [.resume]
        case (.share(let share), nil): return [.resume, .rollout(share)]
        case (nil, let ramp?):
            guard ramp.patch == nil, let schedule = every.flatMap({ ramp.ramp(every: $0.duration) }) else {
                let isInterval = every.map { RolloutRamp.intervals.contains(Int($0.duration.components.seconds)) }
                throw ValidationError(
                    isInterval == false ? "--every \(RolloutRamp.intervalRule)" : "--ramp \(RolloutRamp.stepsRule)"
                )
            }
            return [.ramp(schedule)]
        }
    }
}
