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
    /// Versions that the dial still holds back, one line each.
    package let heldBack: [String]
    /// The service's own answer.
    package let answer: JSON
    package let sent: Sent

    /// A server that knows nothing of it says nothing.
    private static func heldBack(_ fields: Fields) throws(FormatError) -> [String] {
        guard fields.has("heldBack") else { return [] }
        var lines: [String] = []
        for (index, value) in try fields.array("heldBack", limit: Limits.patchesInList).enumerated() {
            lines.append(try Fields(value, of: fields.document, at: "heldBack[\(index)]").string("words"))
        }
        return lines
    }

    /// What travelled.
    package struct Sent: Equatable, Sendable {
        package internal(set) var parts = 0
        package internal(set) var bytes = 0
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
            default: throw fields.broken("outcome", "must be published, drafted or alreadyPublished")
            }
        app = try fields.name("app")
        channel = try fields.name("channel")
        roleVersion = try fields.integer("roleVersion", in: 1...(1 << 53 - 1))
        heldBack = try Self.heldBack(fields)
        answer = .object(fields.object)
        self.sent = sent
    }
}
