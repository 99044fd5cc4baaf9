package import PatchFormat

/// The result of pushing a release.
package struct PushReport: Equatable, Sendable {
    package enum Outcome: Equatable, Sendable {
        case published
        /// Stored until more key holders have signed.
        case drafted(signatures: Int, threshold: Int)
        case alreadyPublished
    }

    package let outcome: Outcome
    package let app: AppID
    package let channel: ChannelName
    package let roleVersion: Int
    /// New versions whose rollout this release sets, one line each.
    package let started: [String]
    /// Versions that the dial still holds back, one line each.
    package let heldBack: [String]
    /// Restrictions of the dial that this release ends, one line each.
    package let lapses: [String]
    /// Gateway lines on which clients in development mode receive nothing, one line each.
    package let developersWait: [String]
    /// Roles that expire soon, or before the release, one line each.
    package let warnings: [String]
    /// Packs that the server did not keep, one line each.
    package let leftOutPacks: [String]
    /// The remedy for lapses.
    package let dialHint: String?
    /// The service's own answer.
    package let answer: JSON
    package let sent: Sent
    /// Whether the token may run the commands that ``started`` and ``dialHint`` name; nil if unknown.
    package var mayOperate: Bool?

    /// Whether a line names a command for an operator.
    package var namesCommand: Bool {
        (started + [dialHint].compactMap(\.self)).contains { $0.contains("patchsrv ") }
    }

    /// Returns an empty list for a server that does not support the member.
    private static func words(_ fields: Fields, _ member: String) throws(FormatError) -> [String] {
        guard fields.has(member) else { return [] }
        var lines: [String] = []
        for (index, value) in try fields.array(member, limit: 2 * Limits.patchesInList).enumerated() {
            lines.append(try Fields(value, of: fields.document, at: "\(member)[\(index)]").string("words"))
        }
        return lines
    }

    /// The amounts of data sent.
    package struct Sent: Equatable, Sendable {
        package internal(set) var parts = 0
        /// The number of packs among the parts.
        ///
        /// Each replaces many parts.
        package internal(set) var packs = 0
        /// The size of the parts as stored.
        package internal(set) var bytes = 0
        /// The size of all transfers, including failed ones.
        package internal(set) var travelled = 0
    }

    init(_ fields: Fields, _ sent: Sent) throws(FormatError) {
        outcome =
            switch try fields.string("outcome") {
            case "published": .published
            case "drafted":
                .drafted(
                    signatures: try fields.integer("signatures", in: 0...Limits.signaturesOnRole),
                    threshold: try fields.integer("threshold", in: 1...Limits.signaturesOnRole)
                )
            case "alreadyPublished": .alreadyPublished
            default: throw fields.broken("outcome", AnswerRule.outcome)
            }
        app = try fields.name("app")
        channel = try fields.name("channel")
        roleVersion = try fields.integer("roleVersion", in: 1...(1 << 53 - 1))
        started = try Self.words(fields, "started")
        heldBack = try Self.words(fields, "heldBack")
        lapses = try Self.words(fields, "lapses")
        developersWait = try Self.words(fields, "developersWait")
        warnings = try Self.words(fields, "warnings")
        leftOutPacks = try Self.words(fields, "leftOutPacks")
        dialHint = try fields.optionalString("dialHint")
        answer = .object(fields.object)
        self.sent = sent
    }
}
