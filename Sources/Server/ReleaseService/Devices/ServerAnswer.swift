package import PatchFormat
package import ServerRecords

/// An operator's choice for one user, or for everyone, in a channel: for one patch, a listed version or nothing new.
package struct ServerAnswer: Equatable, Sendable {
    package static let collection = "answer"

    package enum Target: Hashable, Sendable {
        case everyone
        /// The user, by the hash that devices send.
        case user(SHA256Digest)
    }

    package enum Choice: Equatable, Sendable {
        case version(VersionLabel, SHA256Digest, isForced: Bool)
        case hold
    }

    package let app: AppID
    package let channel: ChannelName
    package let target: Target
    package let patchID: PatchID
    package let choice: Choice
    package let actor: Actor
    package let since: UTCTime

    /// The target and patch of an answer, which identify it in its channel: `everyone/web`, `<hash>/web`.
    package struct Place: Hashable, Sendable, ParsedName {
        package static let rule = "must be everyone or 64 lowercase hex digits, then / and a patch's id"

        package let target: Target
        package let patchID: PatchID

        init(_ target: Target, _ patchID: PatchID) {
            (self.target, self.patchID) = (target, patchID)
        }

        package init?(_ text: String) {
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let target = Target(String(parts[0])), let patchID = PatchID(String(parts[1]))
            else { return nil }
            self.init(target, patchID)
        }

        package var text: String { "\(target.text)/\(patchID)" }
    }

    package var place: Place { Place(target, patchID) }
    var key: RecordKey { Self.key(app, channel, target, patchID) }

    static func key(_ app: AppID, _ channel: ChannelName, _ target: Target, _ patchID: PatchID) -> RecordKey {
        RecordKey(collection, prefix(app, channel) + Place(target, patchID).text)
    }

    static func prefix(_ app: AppID, _ channel: ChannelName) -> String { "\(app)/\(channel)/" }

    static func prefix(_ app: AppID, _ channel: ChannelName, _ target: Target) -> String {
        "\(prefix(app, channel))\(target.text)/"
    }

    /// The choice in the form for devices.
    var deviceChoice: DeviceAnswer.Choice {
        switch choice {
        case .version(_, let sha256, let isForced): .version(sha256, isForced: isForced)
        case .hold: .hold
        }
    }
}

extension ServerAnswer.Target {
    /// Parses `everyone` or a user's hash.
    package init?(_ text: String) {
        if text == "everyone" {
            self = .everyone
        } else if let hash = SHA256Digest(hex: text) {
            self = .user(hash)
        } else {
            return nil
        }
    }

    package var text: String {
        switch self {
        case .everyone: "everyone"
        case .user(let hash): hash.hex
        }
    }
}

extension ServerAnswer {
    package var json: JSON {
        let (version, sha256, isForced): (VersionLabel?, SHA256Digest?, Bool?) =
            switch choice {
            case .version(let version, let sha256, let isForced): (version, sha256, isForced)
            case .hold: (nil, nil, nil)
            }
        return .fields([
            ("app", .text(app.text)), ("channel", .text(channel.text)), ("for", .text(target.text)),
            ("patchId", .text(patchID.text)), ("version", version.map { .text($0.text) }),
            ("sha256", sha256.map { .text($0.hex) }), ("forced", isForced.map { .bool($0) }),
            ("hold", choice == .hold ? .bool(true) : nil), ("by", actor.json), ("since", .text(since.description)),
        ])
    }

    init(_ record: Record) throws(RecordError) {
        do throws(FormatError) {
            let fields = try Fields(record.value, of: "answer")
            app = try fields.name("app")
            channel = try fields.name("channel")
            guard let target = Target(try fields.string("for")) else {
                throw fields.broken("for", "must be everyone or a hash")
            }
            self.target = target
            patchID = try fields.name("patchId")
            choice =
                try fields.bool("hold", default: false)
                ? .hold
                : .version(
                    try fields.name("version"),
                    try fields.digest("sha256"),
                    isForced: try fields.bool("forced", default: false)
                )
            actor = try Actor(try fields.fields("by"))
            since = try fields.time("since")
        } catch { throw .malformed(record.key, rule: error.description) }
    }
}
