import AssetServer
import DeviceOutput
import HTTPAPI
import PatchCrypto
import PatchFormat
import PatchStore
import PatchSync
import PatchTesting
import Patchline
import SystemPackage
import Testing

@testable import PatchDaemon

@Suite("The log of events", .timeLimit(.minutes(10)))
struct EventLogTests {
    private let log = EventLog(start: "s", now: { UTCTime(seconds: 0) })

    private func lines() throws -> [String] {
        guard case .events(let entries) = log.hub.news(after: 0) else {
            Issue.record("events are missing")
            return []
        }
        #expect(entries.allSatisfy { $0.event.topic == "shop" })
        return entries.map { "\($0.event.name) \(String(decoding: $0.event.line, as: UTF8.self))" }
    }

    @Test func `gives each event its number, time and store`() throws {
        for _ in 1...2 { log.take(.nothingInstalled, from: "shop") }
        #expect(
            try lines()
                == ["s-1", "s-2"].map { id in
                    #"nothingInstalled {"at":"1970-01-01T00:00:00Z","event":"nothingInstalled","id":"\#(id)","store":"shop","#
                        + #""type":0,"typeName":"Unknown"}"#
                }
        )
    }

    /// The address contains the access token, and its event has the type of the events that are logged.
    @Test func `has no event of the pages' address`() throws {
        let token = AccessToken(random: [UInt8](repeating: 0xAB, count: 16))
        let event = DeviceEvent.listening(PagesAddress(port: 8080, token: token, host: "127.0.0.1"))
        log.take(event, from: "shop")
        #expect(try lines() == [])
        #expect(event.members.isEmpty && event.text.isEmpty)
    }

    @Test func `names the version of a script that failed in a page once`() throws {
        let text = #"{"patchId":"fix","version":"2","fault":"threw","message":"x","line":1,"column":1}"#
        let report = try JSON.document(Array(text.utf8), named: "report", limit: 1_000)
        let failure = try ScriptFailure(reported: Fields(report, of: "report"))
        log.take(.scriptFailed(failure), from: "shop")
        #expect(
            try lines() == [
                #"scriptFailed {"at":"1970-01-01T00:00:00Z","column":1,"event":"scriptFailed","fault":"threw","id":"s-1","#
                    + #""line":1,"message":"x","patchId":"fix","store":"shop","type":8,"typeName":"JSException","#
                    + #""version":"2"}"#
            ]
        )
    }

    @Test func `writes versions that are approved together with one append`() throws {
        let files = FaultyFiles()
        try files.makeDirectory("/store")
        let store = StoreLog("/store", files: files)
        let labels = try ["fix", "web"].map {
            Label(patchID: try #require(PatchID($0)), version: try #require(VersionLabel("2")))
        }
        let approvals = labels.map { DeviceEvent.approved($0) }
        let writer = StoreLogWriter(store, by: "approve", now: { UTCTime(seconds: 0) })
        writer.take(approvals[0])
        func changes(_ write: () -> Void) -> Int {
            let before = files.changes
            write()
            return files.changes - before
        }
        let one = changes { writer.take(approvals[1]) }
        #expect(changes { writer.take(approvals) } == one)
        #expect(changes { log.take(approvals, from: "shop", keptIn: store) } == one)
        let ids: [JSON] = ["fix", "web", "fix", "web", "fix", "web"].map { .text($0) }
        #expect(store.lines().compactMap { $0["patchId"] } == ids)
    }
}
