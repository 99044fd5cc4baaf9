package import PatchFormat
import PatchCrypto

/// One recorded change, bound to all entries before it.
///
/// `hash` is SHA-256 over `patchline-audit-v1\n` and the canonical JSON of all other members; `previous` is the `hash`
/// of the entry before, or 64 zeros for the first (`PatchFormat`, "The audit log"). So an entry cannot be edited,
/// inserted or removed without rewriting all later ones, and that shows to anyone who wrote down the last hash.
///
/// `time` is the clock's. Where it was behind the entry before, `notBefore` is the earliest that it can be; an
/// operator's ``Event/acceptsClock`` makes the clock count again.
package struct AuditEntry: Equatable, Sendable {
    package static let collection = "audit"
    /// The largest number that a reader takes.
    static let largestNumber = 1 << 53 - 1
    static let noPrevious = String(repeating: "0", count: 64)

    /// An event that has no number in the log yet.
    package struct Event: Equatable, Sendable {
        package let actor: Actor
        /// `release.publish`, `token.revoke`.
        package let action: String
        package let app: AppID?
        package let channel: ChannelName?
        package let before: JSON
        package let after: JSON

        /// Whether the clock is right from here on, whatever earlier entries have.
        var acceptsClock: Bool { action == Self.clockAccepted }
        package static let clockAccepted = "clock.accept"

        package init(
            _ action: String,
            by actor: Actor,
            app: AppID? = nil,
            channel: ChannelName? = nil,
            before: JSON = .null,
            after: JSON = .null
        ) {
            self.actor = actor
            self.action = action
            self.app = app
            self.channel = channel
            self.before = before
            self.after = after
        }
    }

    /// The first is 1.
    package let number: Int
    /// Every member in the order in which it is written.
    package let json: JSON
    package let hash: String
    /// The earliest time at which this can have been written.
    package let earliest: UTCTime

    init(_ event: Event, after last: AuditEntry?, at now: UTCTime) {
        number = (last?.number ?? 0) + 1
        earliest = event.acceptsClock ? now : max(now, last?.earliest ?? now)
        let body = JSON.fields([
            ("number", .integer(number)), ("time", .text(now.description)), ("actor", event.actor.json),
            ("action", .text(event.action)), ("app", event.app.map { .text($0.text) }),
            ("channel", event.channel.map { .text($0.text) }), ("before", event.before), ("after", event.after),
            ("notBefore", earliest > now ? .text(earliest.description) : nil),
            ("previous", .text(last?.hash ?? Self.noPrevious)),
        ])
        hash = Self.hash(of: body)
        var object = body.object ?? JSONObject()
        object["hash"] = .text(hash)
        json = .object(object)
    }

    /// - Throws: `malformed` when it has no number, time, hash or previous hash; ``AuditChain`` checks whether they are
    ///   right.
    package init(_ json: JSON, key: RecordKey) throws(RecordError) {
        do throws(FormatError) {
            let fields = try Fields(json, of: "audit entry")
            number = try fields.integer("number", in: 1...Self.largestNumber)
            hash = try fields.string("hash")
            _ = try fields.string("previous")
            let time = try fields.time("time")
            earliest = fields.has("notBefore") ? max(time, try fields.time("notBefore")) : time
        } catch { throw .malformed(key, rule: error.description) }
        self.json = json
    }

    package var key: RecordKey { Self.key(number) }

    package static func key(_ number: Int) -> RecordKey {
        RecordKey(collection, RecordKey.digits(number))
    }

    var previous: String { json["previous"]?.string ?? "" }

    /// The hash of the present content.
    var rightHash: String {
        guard var object = json.object else { return "" }
        object["hash"] = nil
        return Self.hash(of: .object(object))
    }

    private static func hash(of body: JSON) -> String {
        SHA256Digest(of: Array("patchline-audit-v1\n".utf8) + body.canonicalBytes).hex
    }
}

extension JSON {
    fileprivate var string: String? {
        guard case .string(let text) = self else { return nil }
        return text.text
    }
}
