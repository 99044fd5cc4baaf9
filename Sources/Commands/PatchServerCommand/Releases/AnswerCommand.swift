import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import ReleaseClient
import PatchCrypto
import PatchTrust
import ReleaseService
import ServerRecords

/// `patchsrv answer`: chooses among listed versions for single users or for everyone.
struct AnswerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer",
        abstract: "Choose among listed versions for one user or for everyone.",
        discussion: """
            For devices that ask for answers (`patchsync set --answers`), `patchsrv serve`
            returns the listed version of a patch to install, or that they get nothing
            new. Devices follow an answer only to a version that is signed, listed, meant
            for them and newer than theirs: an answer never rolls back, exceeds a share or
            overrides a pause. With --force, a running app switches at once. A user's
            answer precedes everyone's. The server stores the hash of a user's id.

            EXAMPLES
              patchsrv answer set --data /srv/patchline --channel beta --user alice --patch web@1.5.0 --force
              patchsrv answer set --data /srv/patchline --channel production --everyone --patch web --hold
              patchsrv answer list --data /srv/patchline --channel beta
              patchsrv answer remove --data /srv/patchline --channel beta --user alice --patch web
              patchsrv answer list --server https://patches.example.com --token-file ops.token --channel beta
            """
                + exitCodes(
                    [
                        .refused: "refused: not listed now, or no answer exists; nothing was changed",
                        .network: "the server of --server is unreachable or unavailable",
                        .conflict: "too many answers exist for them, or in the channel",
                    ],
                    usual: .done
                ),
        subcommands: [AnswerSetCommand.self, AnswerListCommand.self, AnswerRemoveCommand.self]
    )
}

/// The user and the patch of an answer.
struct AnswerSubject: ParsableArguments {
    @Option(help: ArgumentHelp("The user's id, as set by the app on its devices.", valueName: "id"))
    var user: String?

    @Option(help: ArgumentHelp("The user's hash, as shown by `patchsrv answer list`.", valueName: "hash"))
    var userHash: String?

    @Flag(help: "Everyone without an answer of their own.")
    var everyone = false

    @Option(
        name: .customLong("patch"),
        help: ArgumentHelp("The patch; with set also its version.", valueName: "patch[@version]"),
        transform: PatchReference.init(parsing:)
    )
    var reference: PatchReference

    var patch: PatchID { reference.patchID }

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

struct AnswerSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Choose a listed version, or nothing new, in place of the earlier answer.",
        discussion: """
            EXAMPLES
              patchsrv answer set --data /srv/patchline --channel beta --user alice --patch web@1.5.0
              patchsrv answer set --data /srv/patchline --channel production --everyone --patch web --hold
            """
    )

    @OptionGroup var place: ChannelOptions
    @OptionGroup var subject: AnswerSubject

    @Option(
        name: .customLong("version"),
        help: ArgumentHelp("The version, if --patch does not name it. Must be listed now.", valueName: "version"),
        transform: parsed
    )
    var namedVersion: VersionLabel?

    private var version: VersionLabel? { subject.reference.version ?? namedVersion }

    @Flag(help: "Switch a running app to it at once.")
    var force = false

    @Flag(help: "Give them nothing new: they keep their version, or none.")
    var hold = false

    func validate() throws {
        _ = try subject.reference.version(or: namedVersion)
        guard version == nil || !hold else {
            throw ValidationError("--version and --hold exclude each other: a version is chosen, or nothing new")
        }
        guard version != nil || hold else {
            throw ValidationError("a version is needed, --patch \(subject.patch)@VERSION, or --hold")
        }
        guard !force || version != nil else { throw ValidationError("--force needs a version") }
    }

    func run() async throws {
        try await reporting(json: place.json) {
            let answer = try await place.answer {
                let app = try place.repository.app
                return try await Answers(place.folder.operations()).choose(
                    subject.target(in: app),
                    with: version.map { .version($0, isForced: force) } ?? .hold,
                    of: subject.patch,
                    in: place.channel,
                    of: app,
                    by: .here
                ).json
            } there: { service, path in
                guard subject.userHash == nil else {
                    throw ValidationError("--user-hash is for a server's folder; with --server use --user")
                }
                return try await service.change(
                    .post,
                    "\(path)/answers",
                    .fields([
                        ("patchId", .text(subject.patch.text)), ("user", subject.user.map { .text($0) }),
                        ("version", version.map { .text($0.text) }), ("force", force ? .bool(true) : nil),
                        ("hold", hold ? .bool(true) : nil),
                    ])
                )
            }
            place.show(answer) { $0.line("\(answer.words("for")): \(answer.words("patchId")) \(answer.choice)") }
        }
    }
}

struct AnswerListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List a channel's answers, with users by the hash of their ids.",
        discussion: """
            EXAMPLES
              patchsrv answer list --data /srv/patchline --channel beta
            """
    )

    @OptionGroup var place: ChannelOptions

    func run() async throws {
        try await reporting(json: place.json) {
            let list = try await place.answer {
                let answers = try await all(of: try place.repository.app, from: place.folder.operations())
                return .fields([("answers", .array(answers.map(\.json)))])
            } there: { service, path in
                var (answers, after): ([JSON], String?) = ([], nil)
                repeat {
                    let place = after.map { "&after=\($0)" } ?? ""
                    let page = try await service.look("\(path)/answers?limit=1000\(place)")
                    answers += page.items("answers")
                    after = page["next"].map { _ in page.words("next") }
                } while after != nil
                return .fields([("answers", .array(answers))])
            }
            let answers = list.items("answers")
            place.show(list) { console in
                guard !answers.isEmpty else {
                    return console.line("nothing is chosen; patchsrv answer set chooses")
                }
                var table = Table(["for", "patch", "chosen", "since", "by"])
                for answer in answers {
                    table.add([
                        Table.Cell(answer.words("for")), Table.Cell(answer.words("patchId")), Table.Cell(answer.choice),
                        Table.Cell(answer.words("since")), Table.Cell(answer["by"]?.actor ?? ""),
                    ])
                }
                table.write(to: console)
            }
        }
    }

    private func all(of app: AppID, from operations: ReleaseOperations) async throws -> [ServerAnswer] {
        var (answers, next) = try await Answers(operations).page(of: place.channel, in: app, limit: 1_000)
        while let last = next {
            let page = try await Answers(operations).page(of: place.channel, in: app, after: last, limit: 1_000)
            answers += page.answers
            next = page.next
        }
        return answers
    }
}

struct AnswerRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove an answer: only the list and its rules decide again.",
        discussion: """
            EXAMPLES
              patchsrv answer remove --data /srv/patchline --channel beta --user alice --patch web
            """
    )

    @OptionGroup var place: ChannelOptions
    @OptionGroup var subject: AnswerSubject

    func validate() throws {
        guard subject.reference.version == nil else {
            throw ValidationError("the answer for any version is removed: --patch \(subject.patch)")
        }
    }

    func run() async throws {
        try await reporting(json: place.json) {
            let removed = try await place.answer {
                let app = try place.repository.app
                let target = subject.target(in: app)
                let removed = try await Answers(place.folder.operations())
                    .remove(for: target, of: subject.patch, in: place.channel, of: app, by: .here)
                guard let removed else {
                    throw Failure(
                        "nothing is chosen there",
                        hint: "patchsrv answer list shows the choices",
                        code: .refused
                    )
                }
                return removed.json
            } there: { service, path in
                let app = path.split(separator: "/").dropFirst().first.flatMap { AppID(String($0)) }
                guard let target = app.map({ subject.target(in: $0) }) else { return .null }
                _ = try await service.change(.delete, "\(path)/answers/\(target.text)/\(subject.patch)")
                return .fields([("for", .text(target.text)), ("patchId", .text(subject.patch.text))])
            }
            place.show(removed) {
                $0.line("removed \(removed.words("for")): \(removed.words("patchId")) \(removed.choice)")
            }
        }
    }
}

extension JSON {
    /// The chosen version or `hold`, empty if the server sends neither.
    fileprivate var choice: String {
        if isTrue("hold") { return "hold" }
        return words("version") + (isTrue("forced") ? ", forced" : "")
    }
}
