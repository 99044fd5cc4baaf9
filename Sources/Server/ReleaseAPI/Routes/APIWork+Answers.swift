import HTTPAPI
import NIOHTTP1
import PatchCrypto
import PatchFormat
import PatchServer
import PatchTrust
import ReleaseService
import ServerRecords

/// Answers that operators choose for users.
extension APIWork {
    private static let base = "/apps/{app}/channels/{channel}"

    var aboutAnswers: [OperatorRoute] {
        [
            OperatorRoute(
                method: .GET,
                path: "\(Self.base)/answers",
                name: "listAnswers",
                about: "The versions chosen in a channel for single users and for everyone.",
                access: .app(.operate),
                query: [
                    .init(name: "after", about: "Only answers after this one.", schema: .answerPlace),
                    .init(
                        name: "limit",
                        about: "The maximum number; 100 by default.",
                        schema: .integer(1...1_000)
                    ),
                ],
                answers: [
                    .init(
                        status: 200,
                        about: """
                            Users by the hash of their ids. A page of a megabyte at most; `next` is the `after` of \
                            the next page.
                            """,
                        schema: .object([("answers", .array(.document))], optional: [("next", .answerPlace)])
                    )
                ],
                work: listAnswers
            ),
            OperatorRoute(
                method: .POST,
                path: "\(Self.base)/answers",
                name: "setAnswer",
                about: "Chooses a listed version, or nothing new, for a user or for everyone (no user).",
                access: .app(.operate),
                body: .json(.answerBody, limit: 16_384),
                answers: [.init(status: 200, about: "The current choice.", schema: .document)],
                problems: [409, 507],
                work: setAnswer
            ),
            OperatorRoute(
                method: .DELETE,
                path: "\(Self.base)/answers/{target}/{patch}",
                name: "removeAnswer",
                about: "Removes the choice for everyone, or for the user with this hash.",
                access: .app(.operate),
                answers: [.init(status: 204, about: "The list and its rules alone decide again.", schema: nil)],
                problems: [409, 507],
                work: removeAnswer
            ),
        ]
    }

    @Sendable private func listAnswers(_ call: APICall) async throws -> APIAnswer {
        let (answers, next) = try await Answers(operations).page(
            of: try call.channel(),
            in: try call.app(),
            after: try call.query("after"),
            limit: try call.query("limit", in: 1...1_000) ?? 100
        )
        return .json(.fields([("answers", .array(answers.map(\.json))), ("next", next.map { .text($0.text) })]))
    }

    @Sendable private func setAnswer(_ call: APICall) async throws -> APIAnswer {
        let (app, channel) = (try call.app(), try call.channel())
        let fields = try await call.fields()
        let (target, patchID, wish) = try Self.wish(fields, in: app)
        return .json(
            try await Answers(operations).choose(target, with: wish, of: patchID, in: channel, of: app, by: call.actor)
                .json
        )
    }

    private static func wish(
        _ fields: Fields,
        in app: AppID
    ) throws(APIProblem) -> (ServerAnswer.Target, PatchID, Answers.ChosenAnswer) {
        do throws(FormatError) {
            var target = ServerAnswer.Target.everyone
            if let text = try fields.optionalString("user") {
                guard let user = UserID(text) else { throw fields.broken("user", UserID.rule) }
                target = .user(user.answerHash(in: app))
            }
            let patchID: PatchID = try fields.name("patchId")
            if try fields.bool("hold", default: false) {
                guard !fields.has("version") else { throw fields.broken("hold", "excludes version") }
                return (target, patchID, .hold)
            }
            let isForced = try fields.bool("force", default: false)
            return (target, patchID, .version(try fields.name("version"), isForced: isForced))
        } catch { throw .malformed(error) }
    }

    @Sendable private func removeAnswer(_ call: APICall) async throws -> APIAnswer {
        let (app, channel) = (try call.app(), try call.channel())
        guard let target = ServerAnswer.Target(try call.text("target")) else {
            throw APIProblem.badRequest("target must be everyone or 64 lowercase hex digits")
        }
        let patchID: PatchID = try call.name("patch")
        let removed = try await Answers(operations).remove(
            for: target,
            of: patchID,
            in: channel,
            of: app,
            by: call.actor
        )
        guard removed != nil else { throw APIProblem.notFound("nothing is chosen there") }
        return .nothing
    }
}

extension APISchema {
    fileprivate static let answerPlace = text("^(everyone|[0-9a-f]{64})/[A-Za-z0-9._-]{1,128}$")

    fileprivate static let answerBody = object(
        [("patchId", patchID)],
        optional: [("user", line(upTo: 256)), ("version", version), ("force", bool), ("hold", bool)]
    )
}
