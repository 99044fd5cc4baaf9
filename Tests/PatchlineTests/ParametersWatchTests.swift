import NIOConcurrencyHelpers
import PatchSync
import Testing

@testable import Patchline

@Suite("A look for online parameters while an app runs", .timeLimit(.minutes(10)))
struct ParametersWatchTests {
    /// The waits of a watch that ends at its fourth, and how often it looked.
    private func waits(every interval: Duration, age: Duration?) async -> (waits: [Duration], looks: Int) {
        let (waits, looks) = (NIOLockedValueBox<[Duration]>([]), NIOLockedValueBox(0))
        let watch = ParametersWatch(
            every: interval,
            age: { age },
            sleep: { duration in
                let count = waits.withLockedValue { waits in
                    waits.append(duration)
                    return waits.count
                }
                if count == 4 { throw CancellationError() }
            },
            look: { looks.withLockedValue { $0 += 1 } }
        )
        await watch.run()
        return (waits.withLockedValue(\.self), looks.withLockedValue(\.self))
    }

    @Test(arguments: [
        (nil, 1_800), (0, 1_800), (600, 1_200), (1_800, 0), (86_400, 0), (-86_400, 1_800),
    ])
    func `comes half an hour after the last sync, and then every half hour`(age: Int?, first: Int) async {
        let found = await waits(every: ParametersWatch.interval, age: age.map { .seconds($0) })
        #expect(found.waits == [.seconds(first), .seconds(1_800), .seconds(1_800), .seconds(1_800)])
        #expect(found.looks == 3)
    }

    @Test func `that fails is told once, until it is over or something else is wrong`() {
        let faults = ParametersFaults()
        let (one, other) = (SyncError.nothingInstalled, SyncError.nothingPending)
        let reported = [one, one, other, nil, one, nil, nil].map { faults.take($0) }
        #expect(reported == [one, nil, other, nil, one, nil, nil])
        #expect(ParametersUpdate.kept(because: one).fault == one)
        for update in [ParametersUpdate.unchanged, .changed, .removed] { #expect(update.fault == nil) }
    }
}
