import DeviceTesting
import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import SystemPackage
import Testing

@testable import PatchSync

extension World {
    /// A sync in which the line breaks after 100 bytes of the pack; then it is well again.
    fileprivate func breakOff() async throws {
        let line = [try basePack()] + repository.tree.files.keys.filter { $0.contains("/web/2.0.0/") }
        repository.fail(line[0], with: .breaksOff(after: 100))
        for path in line.dropFirst() { repository.fail(path, with: .connection) }
        await #expect(throws: SyncError.self) { try await device.sync() }
        #expect(bundleRequests() == ["pack", "manifest"])
        for path in line { repository.repair(path) }
    }
}

@Suite("A pack from a base on its way")
struct BasePackResumeTests {
    @Test func `that breaks off goes on at the byte, from whichever server, in the same sync`() async throws {
        var world = try await World.updating()
        _ = world.retries(1)
        let mirror = world.mirror()
        world.repository.fail(try world.basePack(), with: .breaksOff(after: 100))
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [] && report.packs.count == 1)
        #expect(world.bundleRequests() == ["pack"])
        #expect(
            mirror.takeRequests() == [
                try world.basePack(.signed), "\(try world.basePack()) from 100", try world.basePack(.signatures),
            ]
        )
        try await world.expectUpdated()
    }

    @Test func `that breaks off with the line goes on at the byte in the next sync, after a restart`() async throws {
        let world = try await World.updating()
        try await world.breakOff()
        #expect(try world.packParts.count == 2)
        let next = try world.continued(on: world.disk.crashed(.keep))
        #expect(try await next.device.sync().packs.count == 1)
        #expect(next.bundleRequests() == ["pack from 100", "sigs"])
        try await next.expectUpdated()
    }

    @Test func `that broke off begins anew where its server has another by now, or names none`() async throws {
        for isNamed in [true, false] {
            let world = try await World.updating()
            if !isNamed { world.repository.name { _ in nil } }
            try await world.breakOff()
            world.repository.name { _ in "\"another\"" }
            #expect(try await world.device.sync().packs.count == 1)
            #expect(world.bundleRequests() == [isNamed ? "pack from 100" : "pack", "sigs"])
            try await world.expectUpdated()
        }
    }

    @Test func `of which damaged bytes were here is fetched once more, and nobody is blamed`() async throws {
        let world = try await World.updating()
        try await world.breakOff()
        let part = try #require(world.packParts.first { $0.hasSuffix(".part") })
        try world.disk.overwrite(world.store.objects.incoming.appending(part), with: [UInt8](repeating: 7, count: 100))
        let report = try await world.device.sync()
        #expect(report.packs.count == 1 && report.mirrors == [])
        #expect(world.bundleRequests() == ["pack from 100", "pack", "sigs"])
        try await world.expectUpdated()
    }

    @Test func `that does not fit on the disk makes room, and the update goes on without it`() async throws {
        let first = try await World.updating()
        var isRefused = false
        for room in stride(from: 0, through: 9_000, by: Sweep.isFull ? 100 : 900) {
            let world = try World(copying: first)
            world.disk.limitFreeSpace(to: room)
            _ = try? await world.device.sync()
            isRefused = isRefused || world.takeRefusals().contains { $0.isNoSpace }
            world.disk.limitFreeSpace(to: nil)
            let next = try world.continued(on: world.disk.crashed(.keep))
            #expect(try await next.device.sync().isComplete, "\(room) bytes")
            try await next.expectUpdated("\(room) bytes")
        }
        #expect(isRefused)
    }

    @Test func `that came before the device was stopped is not fetched again`() async throws {
        let first = try await World.updating()
        let rehearsal = try World(copying: first)
        try await rehearsal.device.sync()
        var seen: Set<[String]> = []
        for change in stride(from: 0, to: rehearsal.disk.changes, by: Sweep.isFull ? 1 : 5) {
            let world = try first.continued(on: first.disk.reopened(failingAtChange: change))
            _ = try? await world.device.sync()
            let next = try world.continued(on: world.disk.crashed(.keep))
            _ = next.bundleRequests()
            #expect(try await next.device.sync().isComplete, "change \(change)")
            seen.insert(next.bundleRequests())
            try await next.expectUpdated("change \(change)")
        }
        // Whole, within its signatures, within its contents, and afterwards.
        #expect(seen.isSuperset(of: [["pack", "sigs"], ["sigs"], []]), "\(seen)")
        #expect(!seen.contains { $0.contains("manifest") || $0.contains("object") }, "\(seen)")
    }

    @Test func `that was left is removed when another version is wanted`() async throws {
        let world = try await World.updating()
        try await world.breakOff()
        #expect(try world.packParts.count == 2)
        world.repository.publish([packedWeb1])
        #expect(try await world.device.sync().isComplete)
        #expect(try world.parts == [])
    }
}

extension SyncError {
    fileprivate var isNoSpace: Bool { if case .file(.noSpace) = self { true } else { false } }
}
