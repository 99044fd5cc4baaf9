import ArgumentParser
import CommandSupport
import PatchFormat
import PatchServer
import PatchStore
import ReleaseClient
import ReleaseService
import ReleaseTree
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
              patchsrv token list --server https://patches.example.com --token-file admin.token
              patchsrv token new CI --grant '*=publisher' --json --data /srv/patchline | jq -r .secret >ci.token
              patchsrv token revoke 0123456789abcdef --data /srv/patchline
            """
                + exitCodes(
                    [
                        .refused: "there is no such token (revoke), or the token of --server may not",
                        .network: "the server of --server cannot be reached, or cannot do it now",
                        .disk: "the records could not be read or written",
                    ],
                    usual: .done
                ),
        subcommands: [TokenNewCommand.self, TokenListCommand.self, TokenRevokeCommand.self]
    )
}

struct TokenNewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Makes a token and prints its text, which nobody can show again.",
        discussion: """
            EXAMPLES
              patchsrv token new "CI of the shop" --grant com.example.shop=publisher --data /srv/patchline
            """
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

    @OptionGroup var place: PlaceOptions

    @Flag(help: "Print the token as JSON.")
    var json = false

    func validate() throws {
        let limit = APIToken.nameLimit
        guard name.isOneLine(upTo: limit) else { throw ValidationError("the name \(String.oneLineRule(upTo: limit))") }
        for grant in grants where AccessGrant(grant) == nil {
            throw ValidationError(
                "--grant \(grant): must be APP=ROLE, ROLE being viewer, publisher, operator or admin"
            )
        }
        guard expires.map({ $0.duration <= APIToken.longest }) ?? true else {
            throw ValidationError("--expires must be at most 366d")
        }
    }

    func run() async throws {
        try await reporting(json: json) {
            let grants = grants.compactMap { AccessGrant($0) }
            let lifetime = expires?.duration ?? .days(90)
            let made = try await place.asking {
                let records = try place.folder.records()
                try warn(of: grants, among: try place.folder.allApps(files: DiskFiles()).map(\.text))
                let made = try await records.makeToken(name: name, grants: grants, for: lifetime, by: .here)
                let token = made.token.json(at: try await records.referenceTime())
                return JSON.fields([("token", token), ("text", .text(made.text.text))])
            } there: { service in
                guard lifetime.components.seconds % 86_400 == 0 else {
                    throw ValidationError("--expires must be whole days with --server: 1d, 90d")
                }
                try warn(of: grants, among: try await service.look("/apps").items("apps").map { $0.words("app") })
                return try await service.change(
                    .post,
                    "/tokens",
                    .fields([
                        ("name", .text(name)), ("grants", .array(grants.map { .text($0.description) })),
                        ("days", .integer(Int(lifetime.components.seconds / 86_400))),
                    ])
                )
            }
            if json {
                let secret: [(String, JSON?)] = [("secret", made["text"])]
                return Console.standardOutput.line(made.adding(secret).pretty())
            }
            Console.standardOutput.line(made.words("text"))
            let token = made["token"] ?? .null
            Console.standardError.line(
                "token \(token.words("id")) holds until \(token.words("expires")); its text cannot be shown again"
            )
        }
    }

    /// A misspelt app would be found out when the token is refused.
    private func warn(of grants: [AccessGrant], among apps: [String]) throws {
        for app in grants.compactMap(\.scope.app) where !apps.contains(app.text) {
            Console.standardError.line(Self.warning(of: app, among: apps))
        }
    }

    static func warning(of app: AppID, among apps: [String]) -> String {
        "warning: there is no app \(app) here; the grant counts once there is one. There "
            + (apps.isEmpty ? "is none yet" : "is \(apps.joined(separator: ", "))")
    }
}

struct TokenListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Shows every token, never its text, and within an hour when it was last used.",
        discussion: """
            EXAMPLES
              patchsrv token list --data /srv/patchline
            """
    )

    @OptionGroup var place: PlaceOptions

    @Flag(help: "Print them as JSON.")
    var json = false

    func run() async throws {
        try await reporting(json: json) {
            let list = try await place.asking {
                try await place.folder.records().tokenList { _ in true }
            } there: { service in
                try await service.look("/tokens")
            }
            let console = Console.standardOutput
            if json { return console.line(list.pretty()) }
            let tokens = list.items("tokens")
            guard !tokens.isEmpty else {
                // A service shows those of apps that the asking token, which there is, is admin of.
                return console.line(
                    place.server == nil
                        ? "no tokens; patchsrv token new makes one" : "no token of an app that yours is admin of"
                )
            }
            var table = Table(["token", "name", "grants", "state", "expires", "last used"])
            for token in tokens {
                let used = token.words("lastUsed")
                table.add([
                    Table.Cell(token.words("id")), Table.Cell(token.words("name")),
                    Table.Cell(token.texts("grants").joined(separator: " ")), Table.Cell(token.words("state")),
                    Table.Cell(token.words("expires")), Table.Cell(used.isEmpty ? "never" : used),
                ])
            }
            table.write(to: console)
        }
    }
}

struct TokenRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revokes a token, effective with the next request.",
        discussion: """
            EXAMPLES
              patchsrv token revoke 0123456789abcdef --data /srv/patchline
            """
    )

    @Argument(help: ArgumentHelp("The token's id: the 16 digits after plt_.", valueName: "token"))
    var token: String

    @OptionGroup var place: PlaceOptions

    /// Who has the whole text of a token at hand may name it so; it is repeated nowhere.
    private var id: String { TokenText(token)?.id ?? token }

    func run() async throws {
        try await reporting {
            let unknown = Failure(
                "there is no token \(printable(String(id.prefix(16))))",
                hint: "patchsrv token list shows them",
                exitCode: .refused
            )
            let revoked = try await place.asking {
                let records = try place.folder.records()
                guard let revoked = try await records.revokeToken(id, by: .here) else { throw unknown }
                return revoked.json(at: try await records.referenceTime())
            } there: { service in
                guard id.utf8.count == 16, Hex.bytes(id) != nil else { throw unknown }
                return try await service.change(.delete, "/tokens/\(id)")
            }
            Console.standardOutput.line("revoked \(revoked.words("id")), \(revoked.words("name"))")
        }
    }
}
