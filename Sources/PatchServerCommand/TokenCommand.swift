import ArgumentParser
import CommandSupport
import PatchFormat
import PatchServer
import ServerRecords
import Terminal

/// `patchsrv token`: who may ask the API.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Makes, lists and revokes the tokens that the API lets in.",
        discussion: """
            A token has a role on one app or on all of them: viewer, publisher, operator, admin; each may do what those before
            it may. Its text is shown once and stored nowhere; the server keeps its digest.

            EXAMPLES
              patchsrv token new "CI of the shop" --grant com.example.shop=publisher --data /srv/patchline
              patchsrv token new "Ada" --grant '*=admin' --expires 30d --data /srv/patchline
              patchsrv token list --data /srv/patchline
              patchsrv token revoke 0123456789abcdef --data /srv/patchline

            EXIT CODES
              0   done
              3   there is no such token (revoke)
              6   the records could not be read or written
            """,
        subcommands: [TokenNew.self, TokenList.self, TokenRevoke.self]
    )
}

struct TokenNew: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Makes a token and prints its text, which nobody can show again."
    )

    @Argument(help: ArgumentHelp("Whose it is, for people.", valueName: "name"))
    var name: String

    @Option(
        name: .customLong("grant"),
        help: ArgumentHelp("A role on an app: APP=ROLE, or '*=ROLE' for all. May be given again.", valueName: "grant")
    )
    var grants: [String]

    @Option(help: ArgumentHelp("How long it holds: 90d, 12h; at most 366d (default: 90d).", valueName: "time"))
    var expires: DurationArgument?

    @OptionGroup var folder: FolderOptions

    @Flag(help: "Print the token as JSON.")
    var json = false

    func validate() throws {
        let limit = AccessToken.nameLimit
        guard name.isOneLine(upTo: limit) else { throw ValidationError("the name \(String.oneLineRule(upTo: limit))") }
        guard !grants.isEmpty else { throw ValidationError("--grant is missing: APP=ROLE") }
        for grant in grants where AccessGrant(grant) == nil {
            throw ValidationError(
                "--grant \(grant): must be APP=ROLE, ROLE being viewer, publisher, operator or admin"
            )
        }
        guard expires.map({ $0.duration <= AccessToken.longest }) ?? true else {
            throw ValidationError("--expires must be at most 366d")
        }
    }

    func run() async throws {
        try await reporting(json: json) {
            let records = try folder.records()
            let made = try await records.makeToken(
                name: name,
                grants: grants.compactMap { AccessGrant($0) },
                for: expires?.duration ?? .days(90),
                by: .here
            )
            if json {
                let token = made.token.json(at: try await records.referenceTime())
                let both = JSON.fields([("token", token), ("text", .text(made.text.text))])
                return Console.standardOutput.line(both.pretty())
            }
            Console.standardOutput.line(made.text.text)
            Console.standardError.line(
                "token \(made.token.id) holds until \(made.token.expires); its text cannot be shown again"
            )
        }
    }
}

struct TokenList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Shows every token, never its text.")

    @OptionGroup var folder: FolderOptions

    @Flag(help: "Print them as JSON.")
    var json = false

    func run() async throws {
        try await reporting(json: json) {
            let records = try folder.records()
            let (tokens, now) = (try await records.tokens(), try await records.referenceTime())
            let console = Console.standardOutput
            if json {
                let list = JSON.fields([("tokens", .array(tokens.map { $0.json(at: now) }))])
                return console.line(list.pretty())
            }
            guard !tokens.isEmpty else { return console.line("no tokens; patchsrv token new makes one") }
            var table = Table(["token", "name", "grants", "state", "expires"])
            for token in tokens {
                table.add([
                    "\(token.id)", "\(printable(token.name))",
                    "\(token.grants.map(\.description).joined(separator: " "))",
                    "\(token.standing(at: now))", "\(token.expires)",
                ])
            }
            table.write(to: console)
        }
    }
}

struct TokenRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Lets nobody in with a token any more, from the next request on."
    )

    @Argument(help: ArgumentHelp("The token's id: the 16 digits after plt_.", valueName: "token"))
    var token: String

    @OptionGroup var folder: FolderOptions

    /// Who has the whole text of a token at hand may name it so; it is repeated nowhere.
    private var id: String { TokenText(token)?.id ?? token }

    func run() async throws {
        try await reporting {
            let records = try folder.records()
            guard let revoked = try await records.revokeToken(id, by: .here) else {
                throw Failure(
                    "there is no token \(printable(String(id.prefix(16))))",
                    hint: "patchsrv token list shows them",
                    exitCode: .malformed
                )
            }
            Console.standardOutput.line("revoked \(revoked.id), \(printable(revoked.name))")
        }
    }
}
