import ArgumentParser
import CommandSupport
import PatchFormat
import PatchServer
import PatchTrust
import ReleaseService
import ServerRecords
import Terminal

/// `patchsrv answer`: chooses among listed versions for single users or for everyone.
struct AnswerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer",
        abstract: "Chooses among listed versions for one user or for everyone.",
        discussion: """
            Devices that ask for answers (`patchsync set --answers`) are told by `patchsrv serve` which listed version of a patch
            is theirs, or that they take nothing new. They follow it to what is signed, listed, meant for them and above what
            they have, and to nothing else: nothing is taken back by it, no share exceeded, no pause broken. --force makes a
            running app switch at once. A user's answer goes before everyone's. The server keeps the hash of a user's id.

            EXAMPLES
              patchsrv answer set --data /srv/patchline --channel beta --user alice --patch web --version 1.5.0 --force
              patchsrv answer set --data /srv/patchline --channel production --everyone --patch web --hold
              patchsrv answer list --data /srv/patchline --channel beta
              patchsrv answer remove --data /srv/patchline --channel beta --user alice --patch web

            EXIT CODES
              0   done
              3   refused: not listed now, or nothing is chosen there; nothing was changed
              8   too much is chosen for them, or in the channel, already
            """,
        subcommands: [AnswerSet.self, AnswerList.self, AnswerRemove.self]
    )
}

/// For whom, and of what.
struct AnswerSubject: ParsableArguments {
    @Option(help: ArgumentHelp("The user, by the id that the app gives its devices.", valueName: "id"))
    var user: String?

    @Option(help: ArgumentHelp("The user, by the hash that `patchsrv answer list` shows.", valueName: "hash"))
    var userHash: String?

    @Flag(help: "Everyone for whom nothing else is chosen.")
    var everyone = false

    @Option(
        help: ArgumentHelp("The patch.", valueName: "patch"),
        transform: parsed
    )
    var patch: PatchID

    func validate() throws {
        guard [user != nil, userHash != nil, everyone].count(where: { $0 }) == 1 else {
            throw ValidationError("one of --user, --user-hash and --everyone is needed")
        }
        if let user, UserID(user) == nil { throw ValidationError("--user \(UserID.rule)") }
        if let userHash, SHA256Digest(hex: userHash) == nil {
            throw ValidationError("--user-hash must be 64 lowercase hex digits")
        }
    }

    func target(in app: AppID) -> ServerAnswer.Target {
        if let hash = userHash.flatMap({ SHA256Digest(hex: $0) }) { return .user(hash) }
        return user.flatMap { UserID($0) }.map { .user($0.answerHash(in: app)) } ?? .everyone
    }
}

struct AnswerSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Chooses a listed version, or nothing new, in place of what was chosen before."
    )

    @OptionGroup var place: ChannelOptions
    @OptionGroup var subject: AnswerSubject

    @Option(
        help: ArgumentHelp("The version, which must be listed now.", valueName: "version"),
        transform: parsed
    )
    var version: VersionLabel?

    @Flag(help: "A running app switches to it at once.")
    var force = false

    @Flag(help: "They keep what they have.")
    var hold = false

    func validate() throws {
        guard version == nil || !hold else {
            throw ValidationError("--version and --hold exclude each other: a version is chosen, or nothing new")
        }
        guard version != nil || hold else { throw ValidationError("one of --version and --hold is needed") }
        guard !force || version != nil else { throw ValidationError("--force goes with --version") }
    }

    func run() async throws {
        try await place.asking { desk, app in
            let answer = try await desk.answer(
                subject.target(in: app),
                with: version.map { .version($0, isForced: force) } ?? .hold,
                of: subject.patch,
                in: place.channel,
                of: app,
                by: .here
            )
            place.show(answer.json) { $0.line("\(answer.target.text): \(answer.patchID) \(answer.words)") }
        }
    }
}

struct AnswerList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Shows what is chosen in a channel, users by the hash of their ids."
    )

    @OptionGroup var place: ChannelOptions

    func run() async throws {
        try await place.asking { desk, app in
            let answers = try await all(of: app, from: desk)
            place.show(.fields([("answers", .array(answers.map(\.json)))])) { console in
                guard !answers.isEmpty else {
                    return console.line("nothing is chosen; patchsrv answer set chooses")
                }
                var table = Table(["for", "patch", "chosen", "since", "by"])
                for answer in answers {
                    table.add([
                        "\(answer.target.text)", "\(answer.patchID)", "\(answer.words)", "\(answer.since)",
                        "\(printable(answer.actor.text))",
                    ])
                }
                table.write(to: console)
            }
        }
    }

    private func all(of app: AppID, from desk: ReleaseDesk) async throws -> [ServerAnswer] {
        var (answers, next) = try await desk.answers(of: place.channel, in: app, limit: 1_000)
        while let last = next {
            let page = try await desk.answers(of: place.channel, in: app, after: last, limit: 1_000)
            answers += page.answers
            next = page.next
        }
        return answers
    }
}

struct AnswerRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Lets the list and its rules alone decide again."
    )

    @OptionGroup var place: ChannelOptions
    @OptionGroup var subject: AnswerSubject

    func run() async throws {
        try await place.asking { desk, app in
            let removed = try await desk.removeAnswer(
                for: subject.target(in: app),
                of: subject.patch,
                in: place.channel,
                of: app,
                by: .here
            )
            guard let removed else {
                throw Failure(
                    "nothing is chosen there",
                    hint: "patchsrv answer list shows what is",
                    exitCode: .refused
                )
            }
            place.show(removed.json) { $0.line("removed \(removed.target.text): \(removed.patchID) \(removed.words)") }
        }
    }
}

extension ServerAnswer {
    fileprivate var words: String {
        switch choice {
        case .version(let version, _, let isForced): "\(version)" + (isForced ? ", forced" : "")
        case .hold: "hold"
        }
    }
}
