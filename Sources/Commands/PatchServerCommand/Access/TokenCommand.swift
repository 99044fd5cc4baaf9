import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import ReleaseClient
import ReleaseService
import ServerRecords
import SystemPackage

/// `patchsrv token`: tokens of the API.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Create, list and revoke API tokens.",
        discussion: """
            A token has a role in one channel, on one app or on all apps: viewer,
            publisher, operator, admin. Each role includes those before it. The text of a
            token is shown once; the server stores its digest.

            EXAMPLES
              patchsrv token new ci --output ci.token --data /srv/patchline
              patchsrv token new ci-beta --for beta --output beta.token --data /srv/patchline
              patchsrv token new "Ada" --grant '*=admin' --expires 30d --data /srv/patchline
              patchsrv token list --unused 30d --data /srv/patchline
              patchsrv token list --server https://patches.example.com --token-file admin.token
              patchsrv token revoke ci --data /srv/patchline
            """
                + exitCodes(
                    [
                        .refused: "no such token (revoke), or the token of --server lacks the role",
                        .network: "the server of --server is unreachable or unavailable",
                        .disk: "the records, or the file of --output, could not be read or written",
                        .conflict: "a valid token has that name (new), several have it (revoke), or the file exists",
                    ],
                    usual: .done
                ),
        subcommands: [TokenNewCommand.self, TokenListCommand.self, TokenRevokeCommand.self]
    )
}

struct TokenNewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Create a token. Its text is printed or written once and cannot be shown again.",
        discussion: """
            Without --grant, the token may publish in one channel of the server's one app.
            With --grant, it has exactly these roles: APP/CHANNEL=ROLE, APP=ROLE for all
            channels, or '*=ROLE' for all apps.

            EXAMPLES
              patchsrv token new ci --output ci.token --data /srv/patchline
              patchsrv token new ci-beta --for beta --output beta.token --data /srv/patchline
              patchsrv token new "Ada" --grant com.example.shop=operator --data /srv/patchline
              patchsrv token new CI --json --data /srv/patchline | jq -r .secret
            """
    )

    @Argument(help: ArgumentHelp("The token's name, unique among valid tokens.", valueName: "name"))
    var name: String

    @Option(
        name: .customLong("grant"),
        help: ArgumentHelp("A role: APP/CHANNEL=ROLE, APP=ROLE or '*=ROLE'. Repeatable.", valueName: "grant")
    )
    var grants: [String] = []

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Without --grant: the channel to publish in (default: \(UsualGrant.channel)).",
            valueName: "channel"
        ),
        transform: parsed
    )
    var channel: ChannelName?

    @Option(
        help: ArgumentHelp("Without --grant: the app. Required if the server has several.", valueName: "app"),
        transform: parsed
    )
    var app: AppID?

    @Option(help: ArgumentHelp("How long it is valid: 90d, 12h; at most 366d (default: 90d).", valueName: "time"))
    var expires: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Write the text to this new file, readable by its owner only (mode 0600).",
            valueName: "file"
        )
    )
    var output: String?

    @OptionGroup(title: "Server") var place: PlaceOptions

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        let limit = APIToken.nameLimit
        guard name.isOneLine(upTo: limit) else { throw ValidationError("the name \(String.oneLineRule(upTo: limit))") }
        for grant in grants where AccessGrant(grant) == nil {
            throw ValidationError("--grant \(grant): \(AccessGrant.rule)")
        }
        if channel != nil, !grants.isEmpty {
            throw ValidationError("--for goes without --grant; write --grant APP/CHANNEL=ROLE")
        }
        guard expires.map({ $0.duration <= APIToken.longest }) ?? true else {
            throw ValidationError("--expires must be at most 366d")
        }
    }

    func run() async throws {
        try await reporting(json: json) {
            guard let output else { return show(try await make(), wasWritten: false) }
            let path = FilePath(argument: output)
            // The file is created first. Otherwise the token's text could be lost.
            let file = try SecretOutput(path)
            let made: JSON
            do { made = try await make() } catch {
                file.discard()
                throw error
            }
            do throws(FileError) { try file.write(made.words("text")) } catch {
                file.discard()
                throw Self.lost(made["token"]?.words("id") ?? "", error)
            }
            show(made, wasWritten: true)
        }
    }

    static func lost(_ id: String, _ error: FileError) -> Failure {
        Failure("\(error)", hint: "the token is lost: `patchsrv token revoke \(id)`", code: .disk)
    }

    private func make() async throws -> JSON {
        let lifetime = expires?.duration ?? .days(90)
        return try await place.asking {
            let records = try place.folder.records()
            let apps = try place.folder.allApps(files: DiskFiles())
            let grants = try wanted(among: apps)
            try warn(of: grants, among: apps.map(\.text))
            try checkChannel(of: grants)
            let made = try await records.makeToken(name: name, grants: grants, for: lifetime, by: .here)
            let token = made.token.json(at: try await records.referenceTime())
            return JSON.fields([("token", token), ("text", .text(made.text.text))])
        } there: { service in
            guard lifetime.components.seconds % 86_400 == 0 else {
                throw ValidationError("--expires must be whole days with --server: 1d, 90d")
            }
            let apps = try await service.look("/apps").items("apps").map { $0.words("app") }
            let grants = try wanted(among: apps.compactMap { AppID($0) })
            try warn(of: grants, among: apps)
            return try await service.change(
                .post,
                "/tokens",
                .fields([
                    ("name", .text(name)), ("grants", .array(grants.map { .text($0.description) })),
                    ("days", .integer(Int(lifetime.components.seconds / 86_400))),
                ])
            )
        }
    }

    private func wanted(among apps: [AppID]) throws -> [AccessGrant] {
        let given = grants.compactMap { AccessGrant($0) }
        if !given.isEmpty { return given }
        do throws(UsualGrant.Fault) {
            return [try UsualGrant.grant(app: app, channel: channel, among: apps)]
        } catch { throw ValidationError(error.sentence) }
    }

    /// Checks the channel of the default grant.
    ///
    /// Otherwise a misspelt one would only be discovered when the pipeline is rejected.
    private func checkChannel(of wanted: [AccessGrant]) throws {
        guard grants.isEmpty, case .channel(let app, let channel)? = wanted.first?.scope else { return }
        let known = try AppRepository(app, in: place.folder).channelNames()
        guard known.contains(channel) else {
            throw ValidationError(
                "\(app) has no channel \(channel); name one with --for: \(known.map(\.text).joined(separator: ", "))"
            )
        }
    }

    private func show(_ made: JSON, wasWritten: Bool) {
        let token = made["token"] ?? .null
        if json {
            // If the text is written to a file, it is not printed.
            let secret: [(String, JSON?)] = wasWritten ? [("text", nil)] : [("secret", made["text"])]
            return Console.standardOutput.line(made.adding(secret).pretty())
        }
        let console = Console.standardError
        if !wasWritten { Console.standardOutput.line(made.words("text")) }
        let place = wasWritten ? "is in \(printable(output ?? ""))" : "cannot be shown again"
        console.line("token \(token.words("id")) is valid until \(token.words("expires")); its text \(place)")
        if grants.isEmpty, let grant = token.texts("grants").first.flatMap({ AccessGrant($0) }) {
            console.line("it may publish only in \(grant.scope.text); --grant gives other rights")
        }
    }

    /// Warns of an unknown app.
    ///
    /// Otherwise a misspelt one would only be discovered when the token is rejected.
    private func warn(of grants: [AccessGrant], among apps: [String]) throws {
        for app in grants.compactMap(\.scope.app) where !apps.contains(app.text) {
            Console.standardError.line(Self.warning(of: app, among: apps))
        }
    }

    static func warning(of app: AppID, among apps: [String]) -> String {
        "warning: there is no app \(app) here; the grant applies once there is one. There "
            + (apps.isEmpty ? "is none yet" : "is \(apps.joined(separator: ", "))")
    }
}

struct TokenListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List all tokens and their last use, to within an hour. Their texts are not shown.",
        discussion: """
            EXAMPLES
              patchsrv token list --data /srv/patchline
              patchsrv token list --unused 30d --data /srv/patchline        (valid, and not used for so long)
            """
    )

    @OptionGroup(title: "Server") var place: PlaceOptions

    @Option(help: ArgumentHelp("Only valid tokens unused for this long: 30d, 12h.", valueName: "time"))
    var unused: DurationArgument?

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await reporting(json: json) {
            let list = try await place.asking {
                try await place.folder.records().tokenList { _ in true }
            } there: { service in
                try await service.look("/tokens")
            }
            let (console, now) = (Console.standardOutput, ProcessEnvironment.now())
            let tokens = list.items("tokens").filter { token in
                guard let unused else { return true }
                return token.tokenUse(at: now)?.isIdle(for: unused.duration) ?? false
            }
            if json { return console.line(list.adding([("tokens", .array(tokens))]).pretty()) }
            guard !tokens.isEmpty else {
                if unused != nil { return console.line("every valid token was used in that time") }
                // A service lists only the tokens of apps on which the calling token is admin. That token itself exists.
                return console.line(
                    place.server == nil
                        ? "no tokens; patchsrv token new makes one" : "no token of an app that yours is admin of"
                )
            }
            var table = Table(["token", "name", "grants", "state", "expires", "last used", "unused"])
            for token in tokens {
                let used = token.words("lastUsed")
                table.add([
                    Table.Cell(token.words("id")), Table.Cell(token.words("name")),
                    Table.Cell(token.texts("grants").joined(separator: " ")), Table.Cell(token.words("state")),
                    Table.Cell(token.words("expires")), Table.Cell(used.isEmpty ? "never" : used),
                    Table.Cell(token.tokenUse(at: now)?.words ?? ""),
                ])
            }
            table.write(to: console)
        }
    }
}

struct TokenRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a token, effective with the next request.",
        discussion: """
            For a token that is revoked already, prints the time. Nothing changes, and the
            exit code is 0.

            EXAMPLES
              patchsrv token revoke "CI of the shop" --data /srv/patchline
              patchsrv token revoke 0123456789abcdef --data /srv/patchline
            """
    )

    @Argument(help: ArgumentHelp("The token's name, or its id: the 16 digits after plt_.", valueName: "token"))
    var token: String

    @OptionGroup(title: "Server") var place: PlaceOptions

    /// The id of the token.
    ///
    /// The argument may also be its whole text, which is never printed.
    private var wanted: String { TokenText(token)?.id ?? token }

    func run() async throws {
        try await reporting {
            let line = try await place.asking {
                let records = try place.folder.records()
                let row = try row(in: try await records.tokenList { _ in true })
                guard row.words("state") != "revoked" else { return Self.lineBefore(row) }
                guard let revoked = try await records.revokeToken(row.words("id"), by: .here) else { throw unknown }
                return Self.line(revoked.json(at: try await records.referenceTime()))
            } there: { service in
                let row = try row(in: try await service.look("/tokens"))
                guard row.words("state") != "revoked" else { return Self.lineBefore(row) }
                return Self.line(try await service.change(.delete, "/tokens/\(row.words("id"))"))
            }
            Console.standardOutput.line(line)
        }
    }

    static func line(_ token: JSON) -> String { "revoked \(token.words("id")), \(token.words("name"))" }

    /// The message for a token that was already revoked.
    static func lineBefore(_ token: JSON) -> String {
        let time = token.words("revoked")
        return "\(token.words("id")), \(token.words("name")), was revoked before"
            + (time.isEmpty ? "" : ", at \(time)") + "; nothing was changed"
    }

    /// The listed token that the argument names.
    private func row(in list: JSON) throws -> JSON {
        let id = try id(among: list)
        guard let row = list.items("tokens").first(where: { $0.words("id") == id }) else { throw unknown }
        return row
    }

    private var unknown: Failure {
        // A damaged token text contains a secret, so it is shortened.
        let shown = wanted.hasPrefix("plt_") ? String(wanted.prefix(20)) : wanted
        return Failure(
            "there is no token \(printable(shown))",
            hint: "`patchsrv token list` shows them",
            code: .refused
        )
    }

    static func ambiguous(_ name: String, _ ids: [String]) -> Failure {
        Failure(
            "\(ids.count) valid tokens are called \(printable(name)): \(ids.joined(separator: ", "))",
            hint:
                "name one by its id: `patchsrv token revoke \(ids.first ?? "")`; `token list` shows when each was used",
            code: .conflict
        )
    }

    private func id(among list: JSON) throws -> String {
        switch TokenNaming.find(wanted, among: list.items("tokens").map(\.tokenNaming)) {
        case .one(let id): return id
        case .none: throw unknown
        case .several(let ids):
            throw Self.ambiguous(wanted, ids)
        }
    }
}

extension JSON {
    /// The token as listed by a server.
    ///
    /// Its name is compared unchanged, printable or not.
    fileprivate var tokenNaming: TokenNaming {
        var name = ""
        if case .string(let text)? = self["name"] { name = text.text }
        return TokenNaming(id: words("id"), name: name, isValid: words("state") == "valid")
    }

    /// Nil for a token that is no longer valid.
    fileprivate func tokenUse(at now: UTCTime) -> TokenUse? {
        guard words("state") == "valid", let created = UTCTime(words("created")) else { return nil }
        return TokenUse(created: created, lastUsed: UTCTime(words("lastUsed")), at: now)
    }
}
