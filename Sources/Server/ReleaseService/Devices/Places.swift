import PatchFormat
import ServerRecords

/// The places in one version with a headcount: how many are taken, and a record for each device with a place.
///
/// The count and a new place are written in one commit, so the count always matches the records. Compare-and-swap gives the last
/// place to exactly one device, regardless of concurrent calls.
struct Places: Equatable, Sendable {
    static let counts = "places"
    static let collection = "place"
    /// How many records one commit removes.
    private static let batch = 500

    let app: AppID
    let channel: ChannelName
    let patchID: PatchID
    let sha256: SHA256Digest

    static func prefix(_ app: AppID) -> String { "\(app)/" }

    private var name: String { "\(app)/\(channel)/\(patchID)/\(sha256.hex)" }

    private var count: RecordKey { RecordKey(Self.counts, name) }

    private func place(of device: SHA256Digest) -> RecordKey { RecordKey(Self.collection, "\(name)/\(device.hex)") }

    init(app: AppID, channel: ChannelName, patchID: PatchID, sha256: SHA256Digest) {
        self.app = app
        self.channel = channel
        self.patchID = patchID
        self.sha256 = sha256
    }

    /// - Parameter key: the key of a count.
    init(_ key: RecordKey) throws(RecordError) {
        let parts = key.name.split(separator: "/").map(String.init)
        guard parts.count == 4, let app = AppID(parts[0]), let channel = ChannelName(parts[1]),
            let patchID = PatchID(parts[2]), let sha256 = SHA256Digest(hex: parts[3])
        else { throw .malformed(key, rule: "must be named APP/CHANNEL/PATCH/SHA256") }
        self.init(app: app, channel: channel, patchID: patchID, sha256: sha256)
    }

    /// The number of taken places.
    static func taken(_ record: Record?) throws(RecordError) -> Int {
        guard let record else { return 0 }
        do throws(FormatError) {
            return try Fields(record.value, of: "the count").integer("taken", in: Dial.headcounts)
        } catch { throw .malformed(record.key, rule: error.description) }
    }

    func taken(in store: any RecordStore) async throws(RecordError) -> Int {
        try Self.taken(try await store.record(count))
    }

    /// Gives the device a place, if one is free.
    ///
    /// Returns whether it has one.
    func give(_ device: SHA256Digest, upTo headcount: Int, in store: any RecordStore) async throws(RecordError) -> Bool
    {
        while true {
            if try await store.record(place(of: device)) != nil { return true }
            let record = try await store.record(count)
            let taken = try Self.taken(record)
            guard taken < headcount else { return false }
            do throws(RecordError) {
                try await store.commit([counted(taken + 1, after: record), .insert(place(of: device), .fields([]))])
                return true
            } catch .conflict {
                continue
            }
        }
    }

    /// Removes all places.
    ///
    /// - Returns: how many there were.
    func removeAll(in store: any RecordStore) async throws(RecordError) -> Int {
        var removed = 0
        while let record = try await store.record(count) {
            let places = try await store.records(
                RecordRange(Self.collection, prefix: name + "/", limit: Self.batch)
            )
            let left = try Self.taken(record) - places.count
            let isLast = places.count < Self.batch
            let change: RecordChange = isLast ? .remove(record) : counted(max(0, left), after: record)
            do throws(RecordError) {
                try await store.commit([change] + places.map { .remove($0) })
                removed += places.count
            } catch .conflict {
                continue
            }
        }
        return removed
    }

    private func counted(_ taken: Int, after record: Record?) -> RecordChange {
        let value = JSON.fields([("taken", .integer(taken))])
        return record.map { .replace($0, with: value) } ?? .insert(count, value)
    }
}

extension Places {
    struct Content: Hashable {
        let patchID: PatchID
        let sha256: SHA256Digest
    }

    var content: Content { Content(patchID: patchID, sha256: sha256) }

    func isIn(_ entry: PatchEntry) -> Bool {
        entry.patchID == patchID && entry.fingerprint.sha256 == sha256
    }
}
