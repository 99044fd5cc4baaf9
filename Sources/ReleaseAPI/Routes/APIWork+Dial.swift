import HTTPTypes
import PatchFormat
import PatchServer
import ReleaseService
import ReleaseTree
import ServerRecords

extension APIWork {
    private static let change = APISchema.object(
        [
            ("subject", .text(upTo: 256, example: "web@1.4.2")),
            ("action", .one(of: ["pause", "resume", "rollout", "headcount"])),
        ],
        optional: [("rollout", .integer(0...10_000)), ("headcount", .integer(Dial.headcounts))]
    )

    var aboutDial: [APIEndpoint] {
        [
            APIEndpoint(
                method: .get,
                path: "/apps/{app}/channels/{channel}/dial",
                name: "showDial",
                about: "What the dial makes of each version that a channel lists.",
                access: .app(.viewer),
                answers: [.init(status: 200, about: "Shares in devices of 10,000.", schema: .document)],
                problems: [422],
                handle: { call in
                    let (app, channel) = (try call.app(), try call.channel())
                    let state = try await operations.looking(app) { (repository) throws(ServerError) in
                        try repository.dial(of: channel)
                    }
                    return .json(try await operations.counting(state).json)
                }
            ),
            APIEndpoint(
                method: .post,
                path: "/apps/{app}/channels/{channel}/dial",
                name: "turnDial",
                about:
                    "Pauses, resumes, sets a share up to the ceiling, or raises a head-count; devices see it at once.",
                access: .app(.operate),
                body: .json(
                    .object(
                        [("changes", .array(Self.change, upTo: 100))],
                        optional: [("reason", .line(upTo: DialReason.limit)), ("expect", .positive)]
                    ),
                    limit: 262_144
                ),
                answers: [.init(status: 200, about: "The dial as it is now.", schema: .document)],
                problems: [409, 422, 507],
                handle: turn
            ),
        ]
    }

    @Sendable private func turn(_ call: APICall) async throws -> APIAnswer {
        let (app, channel) = (try call.app(), try call.channel())
        let fields = try await call.fields()
        let (changes, version) = try Self.wanted(fields)
        return .json(
            try await operations.turn(changes, in: channel, of: app, expecting: version, by: call.actor).json
        )
    }

    private static func wanted(_ fields: Fields) throws(APIProblem) -> ([DialChange], Int?) {
        do throws(FormatError) {
            let reason = try fields.optionalString("reason").map { (text) throws(FormatError) in
                guard let reason = DialReason(text) else { throw fields.broken("reason", DialReason.rule) }
                return reason
            }
            var changes: [DialChange] = []
            for (index, value) in try fields.array("changes", limit: 100).enumerated() {
                changes.append(try change(Fields(value, of: "body", at: "changes[\(index)]"), reason))
            }
            guard !changes.isEmpty else { throw fields.broken("changes", "must hold at least one") }
            return (changes, fields.has("expect") ? try fields.integer("expect", in: 1...(1 << 53 - 1)) : nil)
        } catch { throw .malformed(error) }
    }

    private static func change(_ fields: Fields, _ reason: DialReason?) throws(FormatError) -> DialChange {
        guard let (id, subject) = DialChange.subject(try fields.string("subject")) else {
            throw fields.broken("subject", DialChange.subjectRule)
        }
        let action: DialChange.Action
        switch try fields.string("action") {
        case "pause": action = .pause
        case "resume": action = .resume
        case "rollout": action = .rollout(try fields.integer("rollout", in: 0...10_000))
        case "headcount": action = .headcount(try fields.integer("headcount", in: Dial.headcounts))
        default: throw fields.broken("action", "must be pause, resume, rollout or headcount")
        }
        return DialChange(action, of: id, subject, reason: reason)
    }
}
