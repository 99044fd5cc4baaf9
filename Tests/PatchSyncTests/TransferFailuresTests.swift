import DeviceTesting
@testable import PatchChoice
import PatchFetch
import PatchFormat
@testable import PatchSync
import PatchTesting
import PatchTrust
import Testing

/// J11: what could not be fetched.
@Suite("The count of failed transfers")
struct TransferFailuresTests {
    private let now = ManualClock.start
    private let fix = installed("fix 2")

    private func fail(
        _ failures: inout TransferFailures,
        _ cause: TransferFailures.Cause,
        movedForward: Bool = false,
        at time: UTCTime
    ) {
        failures.fail(fix.content, version: fix.version, because: cause, movedForward: movedForward, at: time)
    }

    @Test(arguments: [(TransferFailures.Cause.content, 3), (.network, 5)])
    func `lets a version wait at the third failure, or at the fifth where the network is at fault`(
        cause: TransferFailures.Cause,
        limit: Int
    ) {
        var failures = TransferFailures()
        for count in 1...limit {
            #expect(failures.wait(for: fix.content, at: now) == nil, "before failure \(count)")
            fail(&failures, cause, at: now)
        }
        #expect(failures.wait(for: fix.content, at: now) == .init(failures: limit, until: now.adding(.hours(1))))
    }

    @Test func `counts the two causes apart`() {
        var failures = TransferFailures()
        for _ in 1...2 { fail(&failures, .content, at: now) }
        for _ in 1...4 { fail(&failures, .network, at: now) }
        #expect(failures.wait(for: fix.content, at: now) == nil)
        #expect(failures.counts[fix.content]?.failures == 6)
    }

    @Test func `doubles the wait up to a day, and every wait ends`() {
        var failures = TransferFailures()
        for _ in 1...2 { fail(&failures, .content, at: now) }
        var time = now
        for hours in [1, 2, 4, 8, 16, 24, 24, 24] {
            fail(&failures, .content, at: time)
            let end = time.adding(.hours(hours))
            #expect(failures.wait(for: fix.content, at: time)?.until == end)
            #expect(failures.wait(for: fix.content, at: end.adding(.seconds(-1))) != nil)
            #expect(failures.wait(for: fix.content, at: end) == nil)
            time = end
        }
    }

    @Test func `does not count a poor network that brought something`() {
        var failures = TransferFailures()
        for _ in 1...9 { fail(&failures, .network, movedForward: true, at: now) }
        #expect(failures == TransferFailures())
        fail(&failures, .content, movedForward: true, at: now)
        #expect(failures.counts[fix.content]?.failures == 1, "wrong bytes are wrong bytes")
    }

    @Test func `forgets a version that arrived or is not listed any more, and gives another its own count`() {
        var failures = TransferFailures()
        for _ in 1...3 { fail(&failures, .content, at: now) }
        #expect(failures.wait(for: installed("fix 3").content, at: now) == nil)
        var arrived = failures
        arrived.succeed(fix.content)
        #expect(arrived == TransferFailures())
        failures.keep(only: [installed("fix 3").content])
        #expect(failures == TransferFailures())
    }

    @Test func `is read back from the state as it was written, and absent in older states`() throws {
        var state = DeviceState()
        #expect(state.json["transfers"] == nil)
        #expect(state.json["unfit"] == nil)
        for _ in 1...4 { fail(&state.transfers, .content, at: now) }
        fail(&state.transfers, .network, at: now)
        let platform = try #require(Platform(name: "ios", compatibility: "new"))
        state.unfit.add(fix.content, .init(version: fix.version, platform: platform, needs: "old"))
        #expect(try state.reread() == state)
    }
}

@Suite("A fetch that failed")
struct FetchCauseTests {
    @Test func `counts for a patch as the network's fault or as the content's`() {
        #expect(SyncError.fetch(.connection("x", reason: "unplugged")).transferCause == .network)
        #expect(SyncError.fetch(.stalled("x")).transferCause == .network)
        #expect(SyncError.fetch(.timedOut("x")).transferCause == .network)
        #expect(SyncError.fetch(.status("x", code: 503)).transferCause == .network)
        #expect(SyncError.fetch(.notFound("x")).transferCause == .content)
        #expect(SyncError.object(entry: "x", field: "md5").transferCause == .content)
        #expect(SyncError.fetch(.cancelled).transferCause == nil)
        #expect(SyncError.nothingPending.transferCause == nil)
    }
}
