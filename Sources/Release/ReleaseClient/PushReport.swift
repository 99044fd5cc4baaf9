package import PatchFormat

/// What became of a release that was pushed.
package struct PushReport: Equatable, Sendable {
    package enum Outcome: Equatable, Sendable {
        case published
        /// Kept until more key holders have signed.
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
    /// What the dial holds no more, one line each.
    package let lapses: [String]
    /// Of what clients in development mode get nothing, one line each.
    package let developersWait: [String]
    /// Roles that end soon, or before the release, one line each.
    package let warnings: [String]
    /// Packs that the server did not keep, one line each.
    package let leftOutPacks: [String]
    /// What to do about lapses.
    package let dialHint: String?
    /// The service's own answer.
    package let answer: JSON
    package let sent: Sent

    /// A server that knows nothing of it says nothing.
    private static func words(_ fields: Fields, _ member: String) throws(FormatError) -> [String] {
        guard fields.has(member) else { return [] }
        var lines: [String] = []
        for (index, value) in try fields.array(member, limit: 2 * Limits.patchesInList).enumerated() {
            lines.append(try Fields(value, of: fields.document, at: "\(member)[\(index)]").string("words"))
        }
        return lines
    }

    /// What travelled.
    package struct Sent: Equatable, Sendable {
        package internal(set) var parts = 0
        /// Of these, packs: each stands for many parts.
        package internal(set) var packs = 0
        /// Of these, as they are stored.
        package internal(set) var bytes = 0
        /// As they travelled, and what was sent in vain.
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
