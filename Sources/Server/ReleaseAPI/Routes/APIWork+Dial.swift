import HTTPAPI
import NIOHTTP1
import PatchFormat
import PatchServer
import ReleaseService
import ServerRecords

extension APIWork {
    private static let change = APISchema.object(
        [
            ("subject", .text(upTo: 256, example: "web@1.4.2")),
            ("action", .one(of: ["pause", "resume", "rollout", "headcount", "ramp"])),
        ],
        optional: [
            ("rollout", .integer(0...10_000)), ("headcount", .integer(Dial.headcounts)), ("ramp", ramp),
        ]
    )

    static let ramp = APISchema.object([
        ("steps", .array(.integer(1...10_000), upTo: RolloutRamp.stepLimit)),
        ("every", .integer(RolloutRamp.intervals)),
    ])

    var aboutDial: [OperatorRoute] {
        [
            OperatorRoute(
                method: .GET,
                path: "/apps/{app}/channels/{channel}/dial",
                name: "showDial",
                about: "The effect of the dial on each version that a channel lists.",
                access: .app(.viewer),
                answers: [.init(status: 200, about: "Shares in devices of 10,000.", schema: .document)],
                problems: [422],
                work: { call in
                    let (app, channel) = (try call.app(), try call.channel())
                    let state = try await operations.looking(app) { (repository) throws(ServerError) in
                        try repository.dial(of: channel)
                    }
                    let counted = try await operations.counting(state)
                    return .json(try await Rollouts(operations).describing(counted, counted.json))
                }
            ),
            OperatorRoute(
                method: .POST,
                path: "/apps/{app}/channels/{channel}/dial",
                name: "turnDial",
                about:
                    """
                    Pauses, resumes, sets a share up to the ceiling, begins a schedule of rising shares, or raises a head-count; \
                    devices see it at once. `default` is the share that new versions begin with; null for the signed ceiling.
                    """,
                access: .app(.operate),
                body: .json(
                    .object(
                        [("changes", .array(Self.change, upTo: 100))],
                        optional: [
                            ("reason", .line(upTo: DialReason.limit)), ("expect", .positive),
                            ("default", .integer(0...10_000).orNull()),
                        ]
                    ),
                    limit: 262_144
                ),
                answers: [.init(status: 200, about: "The dial as it is now.", schema: .document)],
                problems: [409, 422, 507],
                work: turn
            ),
        ]
    }

    @Sendable private func turn(_ call: APICall) async throws -> APIAnswer {
        let (app, channel) = (try call.app(), try call.channel())
        let fields = try await call.fields()
        let wanted = try Self.wanted(fields)
        let rollouts = Rollouts(operations)
        // Changes first. If they are rejected, the default is unchanged too.
        var outcome: DialOutcome?
        if !wanted.changes.isEmpty {
            outcome = try await ChangeDial(
                wanted.changes,
                in: channel,
                of: app,
                expecting: wanted.expected,
                by: call.actor,
                operations
            ).run()
        }
        if wanted.setsDefault {
            try await rollouts.setUsual(wanted.share, of: channel, in: app, by: call.actor)
        }
        if let outcome { return .json(try await rollouts.describing(outcome.state, outcome.json)) }
        let state = try await operations.looking(app) { (repository) throws(ServerError) in
            try repository.dial(of: channel)
        }
        return .json(try await rollouts.describing(state, state.json))
    }

    private struct Wanted {
        var changes: [DialChange] = []
        /// The version of the dial role that the caller read.
        var expected: Int?
        /// Whether the channel's default is set to `share`.
        var setsDefault = false
        var share: Int?
    }

    private static func wanted(_ fields: Fields) throws(APIProblem) -> Wanted {
        do throws(FormatError) {
            let reason = try fields.optionalString("reason").map { (text) throws(FormatError) in
                guard let reason = DialReason(text) else { throw fields.broken("reason", DialReason.rule) }
                return reason
            }
            var wanted = Wanted()
            for (index, value) in try fields.array("changes", limit: 100).enumerated() {
                wanted.changes.append(try change(Fields(value, of: "body", at: "changes[\(index)]"), reason))
            }
            wanted.setsDefault = fields.object["default"] != nil
            wanted.share =
                fields.object["default"] == .null || !wanted.setsDefault
                ? nil : try fields.integer("default", in: 0...10_000)
            guard !wanted.changes.isEmpty || wanted.setsDefault else {
                throw fields.broken("changes", "must contain at least one")
            }
            wanted.expected = fields.has("expect") ? try fields.integer("expect", in: 1...(1 << 53 - 1)) : nil
            return wanted
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
        case "ramp": action = .ramp(try RolloutRamp(try fields.fields("ramp")))
        default: throw fields.broken("action", "must be pause, resume, rollout, headcount or ramp")
        }
        return DialChange(action, of: id, subject, reason: reason)
    }
}
