import HTTPAPI
import NIOHTTP1
import PatchFormat
import ServerRecords

extension APIWork {
    private static let longest = Int(APIToken.longest.components.seconds / 86_400)

    var aboutTokens: [OperatorRoute] {
        [
            OperatorRoute(
                method: .GET,
                path: "/tokens",
                name: "listTokens",
                about: "Tokens of the apps on which this one has the role admin.",
                access: .anyone,
                answers: [
                    .init(status: 200, about: "The oldest first.", schema: .object([("tokens", .array(.token))]))
                ],
                work: { call in
                    let own = call.token?.grants ?? []
                    return .json(try await records.tokenList { own.cover($0.grants) })
                }
            ),
            OperatorRoute(
                method: .POST,
                path: "/tokens",
                name: "makeToken",
                about: "Makes a token for apps on which this one has the role admin.",
                access: .anyone,
                body: .json(
                    .object([
                        ("name", .line(upTo: APIToken.nameLimit)), ("grants", .array(.grant, upTo: 100)),
                        ("days", .integer(1...Self.longest)),
                    ]),
                    limit: 65_536
                ),
                answers: [
                    .init(
                        status: 201,
                        about: "The token and its text, which is shown this once.",
                        schema: .object([("token", .token), ("text", .text())])
                    )
                ],
                problems: [409, 507],
                work: makeToken
            ),
            OperatorRoute(
                method: .DELETE,
                path: "/tokens/{token}",
                name: "revokeToken",
                about: "The token is no longer accepted.",
                access: .anyone,
                answers: [.init(status: 200, about: "The token.", schema: .token)],
                problems: [409, 507],
                work: revokeToken
            ),
        ]
    }

    @Sendable private func makeToken(_ call: APICall) async throws -> APIAnswer {
        let fields = try await call.fields()
        let (name, grants, days) = try Self.wanted(fields)
        guard let own = call.token?.grants, own.cover(grants) else {
            throw APIProblem(
                403,
                "forbidden",
                "only an admin of an app makes tokens for it",
                hint: "`patchsrv token new` makes any token where the server runs, with --data in place of --server"
            )
        }
        let made = try await records.makeToken(name: name, grants: grants, for: .days(days), by: call.actor)
        return .json(
            .fields([
                ("token", made.token.json(at: try await records.referenceTime())), ("text", .text(made.text.text)),
            ]),
            status: 201
        )
    }

    private static func wanted(_ fields: Fields) throws(APIProblem) -> (String, [AccessGrant], Int) {
        do throws(FormatError) {
            var grants: [AccessGrant] = []
            for text in try fields.strings("grants", limit: 100) {
                guard let grant = AccessGrant(text) else {
                    throw fields.broken("grants", AccessGrant.rule)
                }
                grants.append(grant)
            }
            guard !grants.isEmpty else { throw fields.broken("grants", "must contain at least one") }
            let name = try fields.string("name")
            guard name.isOneLine(upTo: APIToken.nameLimit) else {
                throw fields.broken("name", String.oneLineRule(upTo: APIToken.nameLimit))
            }
            return (name, grants, try fields.integer("days", in: 1...longest))
        } catch { throw .malformed(error) }
    }

    @Sendable private func revokeToken(_ call: APICall) async throws -> APIAnswer {
        let id = try call.text("token")
        guard let token = try await records.token(id), let own = call.token?.grants, own.cover(token.grants),
            let revoked = try await records.revokeToken(id, by: call.actor)
        else { throw APIProblem.notFound("there is no such token of an app that you are admin of") }
        return .json(revoked.json(at: try await records.referenceTime()))
    }
}
