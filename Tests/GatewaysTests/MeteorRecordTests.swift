import Gateways
import PatchFormat
import Testing

@Suite("What Meteor's client remembers")
struct MeteorRecordTests {
    private let first = MeteorRecord(initial: "1")

    private func running(_ version: String) throws -> MeteorRecord {
        var record = first
        record.take(version)
        try record.switchToPending()
        return record
    }

    @Test func `runs what the app brought, on no trial`() {
        #expect((first.current, first.pending, first.isOnTrial) == ("1", nil, false))
    }

    @Test func `runs a version from its switch on, and not before`() throws {
        var record = first
        #expect(throws: MeteorError.noPendingVersion) { try record.switchToPending() }
        record.take("2")
        #expect((record.current, record.pending) == ("1", "2"))
        try record.switchToPending()
        #expect((record.current, record.pending, record.isOnTrial) == ("2", nil, true))
        #expect(throws: MeteorError.noPendingVersion) { try record.switchToPending() }
        record.take("2")
        #expect(record.pending == nil, "what runs does not wait")
    }

    @Test func `runs at the next start what waited, or what is there of it`() throws {
        var record = try running("2")
        record.confirm()
        record.take("3")
        #expect(record.launched(initial: "1", holding: ["2", "3"]).current == "3")
        #expect(record.launched(initial: "1", holding: ["2"]).current == "2", "its files are gone")
        #expect(record.launched(initial: "1", holding: []).current == "1")
        #expect(record.launched(initial: "1", holding: ["3"]).pending == nil)
        record.take("1")
        #expect(record.launched(initial: "1", holding: ["2"]).current == "1", "what the app brought is always there")
        record.take("3")
        #expect(
            record.launched(initial: "0", holding: ["2", "3"]) == MeteorRecord(initial: "0"),
            "a new build of the app"
        )
    }

    @Test func `goes back to the one that was known good, else to what the app brought`() throws {
        var record = try running("2")
        var other = record
        let wentBack = other.fail(holding: ["2"])
        #expect(wentBack && other.current == "1" && other.failedOnce == ["2"] && other.blacklisted == [])
        let stayed = other.fail(holding: [])
        #expect(!stayed, "what the app brought is on no trial")

        record.confirm()
        #expect(record.needed == ["2"])
        record.take("3")
        try record.switchToPending()
        #expect(record.needed == ["2", "3"])
        var lost = record
        _ = lost.fail(holding: ["3"])
        #expect(lost.current == "1", "the good one's files are gone")
        _ = record.fail(holding: ["2", "3"])
        #expect(record.current == "2" && !record.isOnTrial)
    }

    @Test func `gives a version that did not start one more try, and no third`() throws {
        var record = try running("2")
        _ = record.fail(holding: ["2"])
        record.take("2")
        try record.switchToPending()
        _ = record.fail(holding: ["2"])
        #expect(record.blacklisted == ["2"])
        let device = record.device(compatibility: "c", holding: ["2"], downloading: nil)
        #expect((device.blacklisted, device.initial, device.current, device.onDisk) == (["2"], "1", "1", ["2"]))
    }

    @Test func `leaves files that are not whole, and holds nothing against their version`() throws {
        var record = try running("2")
        record.confirm()
        let left = record.abandon(holding: ["2"])
        #expect(left && record.current == "1" && record.lastKnownGood == nil && record.failedOnce == [])
        let stayed = record.abandon(holding: ["2"])
        #expect(!stayed)
        var later = try running("2")
        later.confirm()
        later.take("3")
        try later.switchToPending()
        _ = later.abandon(holding: ["2", "3"])
        #expect(later.current == "2" && later.lastKnownGood == "2")
    }

    @Test func `is read as it was written, and nothing else is read`() throws {
        var record = try running("2")
        _ = record.fail(holding: [])
        record.take("3")
        record.host = "0123"
        #expect(try MeteorRecord(record.json.fileBytes) == record)
        let error = #expect(throws: FormatError.self) {
            try MeteorRecord(Array(#"{"format":"patchline-meteor-v2"}"#.utf8))
        }
        #expect(error?.description == "the record of a Meteor app: format must be patchline-meteor-v1")
    }

    @Test func `keeps the host of its pages through another build of the app`() throws {
        var record = try running("2")
        record.host = "0123"
        var next = MeteorRecord(initial: "other")
        next.host = "0123"
        #expect(record.launched(initial: "other", holding: ["2"]) == next)
    }
}
