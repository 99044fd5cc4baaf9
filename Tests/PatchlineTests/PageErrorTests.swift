import DeviceTesting
import NIOHTTP1
import PageTesting
import PatchChoice
import PatchFormat
import PatchSync
import PatchTesting
import PatchCrypto
import Testing

@testable import AssetServer
@testable import HTTPFiles
@testable import Patchline

@Suite("An error of a page on trial", .timeLimit(.minutes(10)))
struct PageErrorTests {
    private static let error = PageError(message: "Uncaught Error: no cart", source: "/app.js", line: 3, column: 9)
    private static let words = "Uncaught Error: no cart (/app.js, line 3, column 9)"

    /// The second version is on trial, and its page was asked for.
    private func trying(timeout: Duration = .seconds(3_600)) async throws -> (Launched, RunningApp, String) {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        try await world.publish("2")
        let app = world.app(timeout: timeout, start: .firstPage)
        try await app.launch()
        try await world.server.show("/")
        return (world, app, try launch(of: world))
    }

    private func launch(of world: Launched) throws -> String {
        guard case .trying(_, _, let launch) = try world.device.device.state().machine.state else {
            throw NoTrial()
        }
        return launch.token.text
    }

    private struct NoTrial: Error {}

    private func report(_ launch: String, message: String = "Uncaught Error: no cart") -> [UInt8] {
        JSON.fields([
            ("launch", .text(launch)), ("message", .text(message)), ("source", .text("/app.js")), ("line", .integer(3)),
            ("column", .integer(9)),
        ]).fileBytes
    }

    private func notify(_ body: [UInt8], _ world: Launched) async throws -> String {
        let asked = try request("/__patchline/page-error", [("Sec-Fetch-Site", "same-origin")], method: .POST)
        let answer = try #require(await world.server.answer(asked.with(body: body)).bytes)
        return "\(answer.status.code) \(String(decoding: answer.bytes, as: UTF8.self))"
    }

    private func kept(_ world: Launched) throws -> PageError? {
        guard case .trying(_, _, let launch) = try world.device.device.state().machine.state else { return nil }
        return launch.error
    }

    @Test func `is kept, the first one alone, and decides nothing`() async throws {
        let (world, app, launch) = try await trying()
        #expect(try await notify(report(launch), world) == #"200 {"result":"told"}"#)
        #expect(try await notify(report(launch, message: "another"), world) == #"200 {"result":"told"}"#)
        #expect(try kept(world) == Self.error)
        let before = world.disk.changes
        for _ in 1...10 { _ = try await notify(report(launch), world) }
        #expect(world.disk.changes == before, "what is told again is written no more")
        let reported = String(decoding: await app.debugReport().fileBytes, as: UTF8.self)
        #expect(
            reported.contains(
                #""pageError":{"column":9,"line":3,"message":"Uncaught Error: no cart","source":"/app.js"}"#
            )
        )
        #expect(await app.confirm(launch) == .confirmed)
        #expect(try world.device.device.state().machine.blocks.blocks.isEmpty)
    }

    @Test func `goes with the reason into the event, the block and the report when its time is over`() async throws {
        let (world, app, launch) = try await trying(timeout: .zero)
        _ = try await notify(report(launch), world)
        try await app.endTrialIfDue()
        let machine = try world.device.device.state().machine
        let block = try #require(machine.blocks.blocks.values.first)
        #expect(block.reason == .timer && block.reason.code == "startupTimer" && block.error == Self.error)
        let explained = try #require(try world.device.device.explanation())
        let trials = explained.versions.flatMap(\.judgments).first { $0.rule == .trials }
        #expect(
            trials?.has
                == "1 failure: not confirmed before the startup timer ended; its page's first error: \(Self.words)"
        )
        let reported = String(decoding: await app.debugReport().fileBytes, as: UTF8.self)
        #expect(reported.contains("its page's first error: \(Self.words), until "), "\(reported)")
        try await world.expectSetback(Setback(reason: .timer, error: Self.error))
    }

    @Test func `is kept over a process that ends, for the last launch that it has`() async throws {
        let (world, _, launch) = try await trying()
        _ = try await notify(report(launch), world)
        let again = world.app(start: .firstPage)
        try await again.launch()
        try await world.server.show("/")
        #expect(try kept(world) == Self.error)
        let last = world.app(start: .firstPage)
        try await last.launch()
        let block = try #require(try world.device.device.state().machine.blocks.blocks.values.first)
        #expect(block.reason == .launches && block.reason.code == "launchLimit" && block.error == Self.error)
        try await world.expectSetback(Setback(reason: .launches, error: Self.error))
    }

    @Test func `counts for nothing of another launch, of what is confirmed, or where it breaks a rule`() async throws {
        let (world, app, launch) = try await trying()
        let other = String(repeating: "0", count: 32)
        #expect(try await notify(report(other), world) == #"409 {"error":"this page belongs to another launch"}"#)
        #expect(try await notify(report("x"), world).hasPrefix("409"))
        for body in ["", "{}", "[]", #"{"launch":"\#(launch)","message":1,"line":1,"column":1}"#] {
            #expect(try await notify(Array(body.utf8), world).hasPrefix("400"), "\(body)")
        }
        #expect(try await notify(report(launch, message: String(repeating: "a", count: 5_000)), world).hasPrefix("400"))
        #expect(try kept(world) == nil)
        #expect(await app.confirm(launch) == .confirmed)
        // The open page is of the launch that was confirmed.
        await app.pageFailed(Self.error, in: launch)
        #expect(try world.device.device.state().machine.blocks.blocks.isEmpty)
    }
}

extension Launched {
    /// The next rollback is told with this.
    fileprivate func expectSetback(_ expected: Setback, location: SourceLocation = #_sourceLocation) async throws {
        #expect(await nextSetback() == expected, sourceLocation: location)
    }
}
