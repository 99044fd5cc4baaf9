import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

/// F1: what counts against a trial.
@Suite("A launch of a version on trial")
struct TrialCountTests {
    private let now = ManualClock.start
    private let good = selection(of: [Self.bundle("1")], number: 1)
    private let next = selection(of: [Self.bundle("2")], number: 2)
    private let newer = selection(of: [Self.bundle("3")], number: 3)

    private static func bundle(_ version: String) -> InstalledPatch {
        InstalledPatch(
            PatchEntry(
                patchID: name("web"),
                kind: .bundle,
                version: name(version),
                url: "x",
                fingerprint: Fingerprint(of: Array(version.utf8)),
                signature: installed("fix 1").signature,
                salt: [],
                rules: .everyone
            ),
            column: nil
        )
    }

    private func token(_ number: UInt8) -> LaunchToken { SimulatedDevice.token(number) }

    private func launches(_ machine: SelectionMachine) -> Int? {
        if case .trying(_, _, let launch) = machine.state { launch.launches } else { nil }
    }

    @Test func `whose process ends before a page was asked for is no failed launch, however often it does`() {
        var machine = SelectionMachine(state: .pending(good: good, next: next))
        for number in 1...20 as ClosedRange<UInt8> {
            let activation = machine.launch(token: token(number), at: now, counting: .firstPage)
            #expect(activation == .tryOut(next, token(number)))
        }
        #expect(launches(machine) == 0 && machine.blocks.blocks.isEmpty)
    }

    @Test func `counts from the first request for a page on, once, and is rolled back at the limit`() {
        var machine = SelectionMachine(state: .pending(good: good, next: next))
        for number in 1...2 as ClosedRange<UInt8> {
            _ = machine.launch(token: token(number), at: now, counting: .firstPage)
            for _ in 1...3 {
                let isTrial = machine.pageRequested(token(number))
                #expect(isTrial)
            }
            #expect(launches(machine) == Int(number))
        }
        let isOther = !machine.pageRequested(token(1))
        #expect(isOther, "another launch's page")
        #expect(launches(machine) == 2)
        #expect(machine.launch(token: token(3), at: now, counting: .firstPage) == .rolledBack(to: good, from: next))
        #expect(machine.blocks.blocks.count == 1)
    }

    @Test func `counts at once where nobody can ask for a page, or the host shows none`() {
        let scripts = selection(["fix 2"], number: 2)
        for (trial, counting) in [(scripts, TrialStart.firstPage), (next, .launch)] {
            var machine = SelectionMachine(state: .pending(good: good, next: trial))
            _ = machine.launch(token: token(1), at: now, counting: counting)
            #expect(launches(machine) == 1)
        }
    }

    @Test func `that is never opened makes room for what a sync stages`() {
        var machine = SelectionMachine(state: .pending(good: good, next: next))
        _ = machine.launch(token: token(1), at: now, counting: .firstPage)
        #expect(!machine.isTrialRunning)
        #expect(machine.stage(next) == .unchanged)
        #expect(launches(machine) == 0)
        #expect(machine.stage(newer) == .staged)
        #expect(machine.state == .pending(good: good, next: newer))
        _ = machine.launch(token: token(2), at: now, counting: .firstPage)
        #expect(machine.stage(good) == .unstaged)
        #expect(machine.state == .settled(good))
    }

    @Test func `that counts is disturbed by no sync`() {
        var machine = SelectionMachine(state: .pending(good: good, next: next))
        _ = machine.launch(token: token(1), at: now, counting: .firstPage)
        _ = machine.pageRequested(token(1))
        #expect(machine.isTrialRunning)
        #expect(machine.stage(newer) == .trialRunning)
    }

    // MARK: The first install

    @Test func `of a first version is never its last: neither its timer nor its launches take it away`() {
        var machine = SelectionMachine(state: .pending(good: nil, next: next))
        for number in 1...9 as ClosedRange<UInt8> {
            #expect(machine.launch(token: token(number), at: now) == .tryOut(next, token(number)))
            #expect(machine.timerEnded(token(number), at: now) == .unproven(next))
        }
        #expect(machine.isUnproven && machine.blocks.blocks.isEmpty && machine.state.running == next)
        #expect(machine.trialAtItsLimit() == nil)
        #expect(machine.rollBack(at: now) == nil, "there is nothing to go back to")
        #expect(machine.confirm(token(9)) == .confirmed(next), "late, and good all the same")
        #expect(!machine.isUnproven)
    }

    @Test func `of a first version counts no further than can be written down`() {
        var machine = SelectionMachine(state: .pending(good: nil, next: next))
        for _ in 1...1_100 { _ = machine.launch(token: token(1), at: now, launchLimit: 5_000) }
        #expect(launches(machine) == 1_000)
    }

    @Test func `of a first version makes room for a newer one when that is staged`() {
        var machine = SelectionMachine(state: .pending(good: nil, next: next))
        _ = machine.launch(token: token(1), at: now)
        #expect(machine.stage(next) == .unchanged)
        #expect(machine.stage(newer) == .staged)
        #expect(machine.state == .pending(good: nil, next: newer))
        #expect(machine.launch(token: token(2), at: now) == .tryOut(newer, token(2)))
    }

    @Test func `of a first version that is withdrawn ends with it`() {
        var machine = SelectionMachine(state: .pending(good: nil, next: next))
        _ = machine.launch(token: token(1), at: now)
        let nothing = selection([], number: 3)
        #expect(machine.stage(nothing) == .staged)
        #expect(machine.launch(token: token(2), at: now) == .run(nothing, removed: [name("web")]))
        #expect(machine.state == .empty)
    }

    @Test func `of a first version goes back to what the app ships, where it ships something`() {
        var machine = SelectionMachine(
            state: .trying(good: nil, trial: next, launch: .init(token: token(1), launches: 1)),
            embedded: good
        )
        #expect(!machine.isUnproven)
        #expect(machine.timerEnded(token(1), at: now) == .rolledBack(to: good, from: next))
    }
}
