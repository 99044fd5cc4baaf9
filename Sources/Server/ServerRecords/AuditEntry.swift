package import PatchFormat
import PatchCrypto

/// One recorded change, bound to all entries before it.
///
/// `hash` is SHA-256 over `patchline-audit-v1\n` and the canonical JSON of all other members. `previous` is the `hash` of the
/// previous entry, or 64 zeros for the first (`PatchFormat`, "The audit log"). An entry therefore cannot be edited, inserted or
/// removed without rewriting all later ones, which is detected with a recorded copy of the last hash.
///
/// `time` is the clock's. If the clock was behind the previous entry, `notBefore` is the earliest possible time. An operator's
/// ``Event/acceptsClock`` makes the clock count again.
package struct AuditEntry: Equatable, Sendable {
    package static let collection = "audit"
    /// The largest number that a reader accepts.
    static let largestNumber = 1 << 53 - 1
    static let noPrevious = String(repeating: "0", count: 64)

    /// An event without a number in the log.
    package struct Event: Equatable, Sendable {
        package let actor: Actor
        /// The kind of change: `release.publish`, `token.revoke`.
        package let action: String
        package let app: AppID?
        package let channel: ChannelName?
        package let before: JSON
        package let after: JSON

        /// Whether the clock counts from this entry on, regardless of earlier entries.
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

    /// The number of the entry, from 1.
    package let number: Int
    /// All members in the order in which they are written.
    package let json: JSON
    package let hash: String
    /// The earliest time at which this entry can have been written.
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

    /// - Throws: `malformed` if a number, time, hash or previous hash is missing or malformed. ``AuditChain`` checks whether they
    ///   are correct.
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

    /// The hash of the present content, to compare with ``hash``.
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
