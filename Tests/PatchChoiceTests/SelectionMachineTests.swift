import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchTesting
import Testing

@Suite("The machine of selections")
struct SelectionMachineTests {
    private static let now = ManualClock.start
    private let now = ManualClock.start
    private let a = selection(["fix 1", "web 1"], number: 1)
    private let b = selection(["fix 2", "web 1"], number: 2)
    private let c = selection(["fix 3", "web 1"], number: 3)

    private func token(_ number: UInt8) -> LaunchToken { SimulatedDevice.token(number) }

    private func trying(
        _ good: Selection?,
        _ trial: Selection,
        launches: Int = 1,
        token number: UInt8 = 1,
        isCounted: Bool = true
    ) -> SelectionState {
        .trying(
            good: good,
            trial: trial,
            launch: .init(token: token(number), launches: launches, isCounted: isCounted)
        )
    }

    private func wait(_ patch: String) -> [PatchContent: TrialBlocks.Block] {
        let patch = installed(patch)
        return [patch.content: .init(version: patch.version, failures: 1, until: now.adding(.hours(1)), reason: .timer)]
    }

    // MARK: A trial that is replaced before it is decided

    @Test func `names the selection that a sync put in place of a trial, and the proven one if that is listed again`() {
        var machine = SelectionMachine(state: trying(a, b, isCounted: false))
        #expect(machine.replacement(of: b, in: token(1)) == nil, "it is running")
        #expect(machine.stage(c) == .staged)
        #expect(machine.replacement(of: b, in: token(1)) == c)
        _ = machine.switchToPending(token: token(2))
        #expect(machine.replacement(of: b, in: token(1)) == c, "another process started it")
        machine = SelectionMachine(state: trying(a, b, isCounted: false))
        #expect(machine.stage(a) == .unstaged)
        #expect(machine.replacement(of: b, in: token(1)) == a)
    }

    @Test func `names no replacement of a trial that was confirmed, rolled back or launched again`() {
        var machine = SelectionMachine(state: trying(a, b))
        #expect(machine.confirm(token(1)) == .confirmed(b))
        #expect(machine.stage(c) == .staged)
        #expect(machine.replacement(of: b, in: token(1)) == nil)
        machine = SelectionMachine(state: trying(a, b))
        #expect(machine.rollBack(at: now) == .rolledBack(to: a, from: b))
        #expect(machine.replacement(of: b, in: token(1)) == nil)
        machine = SelectionMachine(state: trying(a, b))
        #expect(machine.launch(token: token(2), at: now) == .tryOut(b, token(2)))
        #expect(machine.replacement(of: b, in: token(1)) == nil)
    }

    // MARK: A script that fails in a page

    @Test func `fails a trial at once when a script of it fails in one of its pages, and blocks what is new`() {
        var machine = SelectionMachine(state: trying(a, b))
        #expect(
            machine.scriptFailed(installed("fix 2").content, in: token(1), at: now)
                == .ends(.rolledBack(to: a, from: b))
        )
        #expect(machine.state == .settled(a))
        #expect(
            machine.blocks.blocks.map { "\($0.key.patchID) \($0.value.version) \($0.value.failures)" } == ["fix 2 1"]
        )
        #expect(machine.blocks.blocks.values.map(\.reason) == [.script])
        // The second time it is blocked.
        machine.state = trying(a, b, token: 2)
        _ = machine.scriptFailed(installed("fix 2").content, in: token(2), at: now)
        #expect(
            machine.blocks.status(of: installed("fix 2").content, at: now) == .blocked(until: now.adding(.days(14)))
        )
    }

    @Test func `is told of a script that fails in what is confirmed, and stays as it is`() {
        let states: [SelectionState] = [.settled(a), .pending(good: a, next: b), trying(a, b)]
        for state in states {
            var machine = SelectionMachine(state: state)
            #expect(machine.scriptFailed(installed("fix 1").content, in: nil, at: now) == .told)
            #expect(machine == SelectionMachine(state: state))
        }
        var confirmed = SelectionMachine(state: trying(nil, a))
        #expect(confirmed.confirm(token(1)) == .confirmed(a))
        #expect(confirmed.scriptFailed(installed("fix 1").content, in: token(1), at: now) == .told)
        // A trial that there is nothing to go back from stays too.
        var unproven = SelectionMachine(state: trying(nil, a))
        #expect(unproven.scriptFailed(installed("fix 1").content, in: token(1), at: now) == .told)
        #expect(unproven == SelectionMachine(state: trying(nil, a)))
    }

    @Test func `takes no failure of another launch, or of a script that this launch does not run`() {
        let strange: [(SelectionState, String, LaunchToken?)] = [
            (.empty, "fix 1", nil), (.settled(a), "fix 2", nil), (.settled(a), "fix 1", token(1)),
            (.pending(good: a, next: b), "fix 2", nil), (trying(a, b), "fix 2", nil), (trying(a, b), "fix 2", token(2)),
            (trying(a, b), "fix 3", token(1)), (trying(a, b), "fix 1", token(1)),
        ]
        for (state, script, token) in strange {
            var machine = SelectionMachine(state: state)
            #expect(
                machine.scriptFailed(installed(script).content, in: token, at: now) == .otherLaunch,
                "\(script) \(state)"
            )
            #expect(machine == SelectionMachine(state: state))
        }
    }

    @Test func `says nothing against a script that a page could not load`() {
        let machine = SelectionMachine(state: trying(a, b))
        #expect(machine.verdict(onUnloaded: installed("fix 2").content, in: token(1)) == .told)
        #expect(machine.verdict(onUnloaded: installed("fix 2").content, in: token(2)) == .otherLaunch)
    }

    // MARK: The arrows of the diagram

    @Test func `goes from empty to pending when the first selection is staged`() {
        var machine = SelectionMachine()
        #expect(machine.stage(a) == .staged)
        #expect(machine.state == .pending(good: nil, next: a))
        #expect(machine.state.running == nil)
    }

    @Test func `goes from settled to pending when another selection is staged`() {
        var machine = SelectionMachine(state: .settled(a))
        #expect(machine.stage(b) == .staged)
        #expect(machine.state == .pending(good: a, next: b))
        #expect(machine.state.running == a)
    }

    @Test func `goes from pending to trying at a launch`() {
        var machine = SelectionMachine(state: .pending(good: a, next: b))
        #expect(machine.launch(token: token(1), at: now) == .tryOut(b, token(1)))
        #expect(machine.state == trying(a, b))
    }

    @Test func `goes from pending to trying at a switch`() {
        var machine = SelectionMachine(state: .pending(good: a, next: b))
        #expect(machine.switchToPending(token: token(1)) == .tryOut(b, token(1)))
        #expect(machine.state == trying(a, b))
    }

    @Test func `goes from trying to settled on the trial when that is confirmed`() {
        var machine = SelectionMachine(state: trying(a, b))
        #expect(machine.confirm(token(1)) == .confirmed(b))
        #expect(machine.state == .settled(b))
        #expect(machine.previous == a)
    }

    @Test func `goes from trying back to settled when the startup timer ends, and what differs waits`() {
        var machine = SelectionMachine(state: trying(a, b))
        #expect(machine.timerEnded(token(1), at: now) == .rolledBack(to: a, from: b))
        #expect(machine.state == .settled(a))
        #expect(machine.blocks.blocks == wait("fix 2"))
    }

    @Test func `goes from trying back to settled when the launches are used up`() {
        var machine = SelectionMachine(state: trying(a, b, launches: 2))
        #expect(machine.launch(token: token(3), at: now) == .rolledBack(to: a, from: b))
        #expect(machine.state == .settled(a))
        #expect(machine.blocks.blocks.values.map(\.reason) == [.launches])
    }

    @Test func `stays where nothing was confirmed before, and nothing is blocked`() {
        var machine = SelectionMachine(state: trying(nil, a))
        #expect(machine.timerEnded(token(1), at: now) == .unproven(a))
        #expect(machine == SelectionMachine(state: trying(nil, a)))
    }

    // MARK: What changes nothing

    @Test func `runs nothing while it is empty`() {
        var machine = SelectionMachine()
        #expect(machine.launch(token: token(1), at: now) == .nothing)
        #expect(machine.switchToPending(token: token(1)) == nil)
        #expect(machine.rollBack(at: now) == nil)
        #expect(machine.confirm(token(1)) == .nothingToConfirm)
        #expect(machine.stage(selection([])) == .unchanged)
        #expect(machine == SelectionMachine())
    }

    @Test func `runs a settled selection at every launch`() {
        var machine = SelectionMachine(state: .settled(a))
        let before = machine
        #expect(machine.launch(token: token(1), at: now) == .run(a, removed: []))
        #expect(machine.switchToPending(token: token(1)) == nil)
        #expect(machine.confirm(token(1)) == .nothingOnTrial(a))
        #expect(machine.timerEnded(token(1), at: now) == nil)
        #expect(machine.stage(selection(["fix 1", "web 1"], number: 9)) == .unchanged)
        #expect(machine == before)
    }

    @Test func `keeps what is pending when it is staged again`() {
        var machine = SelectionMachine(state: .pending(good: a, next: b))
        #expect(machine.stage(selection(["fix 2", "web 1"], number: 9)) == .unchanged)
        #expect(machine.state == .pending(good: a, next: b))
    }

    @Test func `replaces what is pending by something newer`() {
        var machine = SelectionMachine(state: .pending(good: a, next: b))
        #expect(machine.stage(c) == .staged)
        #expect(machine.state == .pending(good: a, next: c))
    }

    @Test func `forgets what is pending when it is not wanted any more`() {
        var machine = SelectionMachine(state: .pending(good: a, next: b))
        #expect(machine.stage(selection(["fix 1", "web 1"], number: 9)) == .unstaged)
        #expect(machine.state == .settled(a))
        var first = SelectionMachine(state: .pending(good: nil, next: b))
        #expect(first.stage(selection([])) == .unstaged)
        #expect(first.state == .empty)
    }

    @Test func `stages nothing while a trial runs`() {
        var machine = SelectionMachine(state: trying(a, b))
        #expect(machine.stage(c) == .trialRunning)
        #expect(machine.switchToPending(token: token(2)) == nil)
        #expect(machine.state == trying(a, b))
    }

    // MARK: Launches of a trial

    @Test func `tries again below the launch limit, because a power cut is no failure`() {
        var machine = SelectionMachine(state: .pending(good: a, next: b))
        _ = machine.launch(token: token(1), at: now)
        #expect(machine.launch(token: token(2), at: now) == .tryOut(b, token(2)))
        #expect(machine.state == trying(a, b, launches: 2, token: 2))
        #expect(machine.blocks.blocks.isEmpty)
        #expect(machine.confirm(token(2)) == .confirmed(b))
    }

    @Test(arguments: [1, 2, 5])
    func `grants a trial as many launches as the limit says`(limit: Int) {
        var machine = SelectionMachine(state: .pending(good: a, next: b))
        for number in 1...limit {
            #expect(
                machine.launch(token: token(UInt8(number)), at: now, launchLimit: limit)
                    == .tryOut(b, token(UInt8(number)))
            )
        }
        #expect(machine.launch(token: token(99), at: now, launchLimit: limit) == .rolledBack(to: a, from: b))
    }

    @Test func `does not count a launch that stopped cleanly`() {
        var machine = SelectionMachine(state: .pending(good: a, next: b))
        for number in 1...9 as ClosedRange<UInt8> {
            #expect(machine.launch(token: token(number), at: now) == .tryOut(b, token(number)))
            machine.stoppedCleanly(token(number))
        }
        #expect(machine.state == trying(a, b, launches: 0, token: 9, isCounted: false))
    }

    @Test func `counts a launch when another one says that it stopped`() {
        var machine = SelectionMachine(state: trying(a, b, token: 2))
        machine.stoppedCleanly(token(1))
        #expect(machine.state == trying(a, b, token: 2))
    }

    @Test func `takes a launch back once, however often it says that it stopped`() {
        var machine = SelectionMachine(state: trying(a, b))
        machine.stoppedCleanly(token(1))
        machine.stoppedCleanly(token(1))
        #expect(machine.state == trying(a, b, launches: 0, isCounted: false))
    }

    @Test func `takes back no earlier launch by saying twice that the second stopped`() {
        var machine = SelectionMachine(state: trying(a, b, launches: 2, token: 2))
        machine.stoppedCleanly(token(2))
        machine.stoppedCleanly(token(2))
        #expect(machine.state == trying(a, b, launches: 1, token: 2, isCounted: false))
    }

    @Test func `counts a launch again once it is back from the background`() {
        var machine = SelectionMachine(state: trying(a, b, launches: 2, token: 2))
        for _ in 1...5 {
            machine.stoppedCleanly(token(2))
            machine.recordForeground(token(1))
            #expect(machine.state == trying(a, b, launches: 1, token: 2, isCounted: false))
            machine.recordForeground(token(2))
            machine.recordForeground(token(2))
        }
        #expect(machine.state == trying(a, b, launches: 2, token: 2))
        #expect(machine.launch(token: token(3), at: now) == .rolledBack(to: a, from: b))
    }

    @Test func `does not end a trial by the timer of another launch`() {
        var machine = SelectionMachine(state: trying(a, b, launches: 2, token: 2))
        #expect(machine.timerEnded(token(1), at: now) == nil)
        #expect(machine.state == trying(a, b, launches: 2, token: 2))
    }

    @Test func `lets a late readiness of another launch count for nothing`() {
        var machine = SelectionMachine(state: trying(a, b, token: 2))
        #expect(machine.confirm(token(1)) == .otherLaunch)
        #expect(machine.state == trying(a, b, token: 2))
        #expect(machine.previous == nil)
    }

    @Test func `lets a readiness after the roll back count for nothing new`() {
        var machine = SelectionMachine(state: trying(a, b))
        _ = machine.timerEnded(token(1), at: now)
        #expect(machine.confirm(token(1)) == .nothingOnTrial(a))
        #expect(machine.state == .settled(a))
    }

    @Test func `hears the launch that was confirmed twice, and no other`() {
        var machine = SelectionMachine(state: trying(a, b, token: 2))
        #expect(machine.confirm(token(2)) == .confirmed(b))
        #expect(machine.confirm(token(2)) == .alreadyConfirmed(b))
        #expect(machine.confirm(token(1)) == .nothingOnTrial(b))
        #expect(machine.stage(c) == .staged)
        #expect(machine.confirm(token(2)) == .alreadyConfirmed(b))
        #expect(machine.switchToPending(token: token(3)) == .tryOut(c, token(3)))
        #expect(machine.confirm(token(2)) == .otherLaunch)
    }

    @Test func `confirms nothing by the launch whose version a person went back from`() {
        var machine = SelectionMachine(state: trying(a, b, token: 2))
        _ = machine.confirm(token(2))
        _ = machine.rollBack(at: now)
        #expect(machine.confirm(token(2)) == .nothingOnTrial(a))
    }

    @Test func `ends no trial by a timer that ends after the confirmation`() {
        var machine = SelectionMachine(state: trying(a, b))
        _ = machine.confirm(token(1))
        #expect(machine.timerEnded(token(1), at: now) == nil)
        #expect(machine.state == .settled(b))
    }

    // MARK: Strikes

    @Test func `blocks what differs for an hour at first, and for fourteen days from the second time on`() {
        var machine = SelectionMachine(state: .settled(a))
        for (hour, wait) in [(0, Duration.hours(1)), (1, .days(14)), (400, .days(14))] {
            let time = now.adding(.hours(hour))
            #expect(machine.stage(b) == .staged)
            #expect(machine.launch(token: token(1), at: time) == .tryOut(b, token(1)))
            #expect(machine.timerEnded(token(1), at: time) == .rolledBack(to: a, from: b))
            #expect(machine.blocks.blocks.values.map(\.until) == [time.adding(wait)])
        }
        #expect(machine.blocks.blocks[installed("fix 2").content]?.failures == 3)
        #expect(machine.blocks.blocks[installed("web 1").content] == nil, "was in the good selection too")
    }

    @Test func `forgets what a version failed once it is confirmed`() {
        var machine = SelectionMachine(
            state: trying(a, b),
            blocks: TrialBlocks(wait("fix 2").merging(wait("fix 9")) { $1 })
        )
        #expect(machine.confirm(token(1)) == .confirmed(b))
        #expect(machine.blocks.blocks == wait("fix 9"))
    }

    @Test func `forgets every block when a person asks for it, or those of one patch`() {
        let blocks = TrialBlocks(wait("fix 2").merging(wait("web 2")) { $1 })
        var machine = SelectionMachine(state: .settled(a), blocks: blocks)
        #expect(machine.clearBlocks(of: [name("web"), name("tip")]).map(\.description) == ["web 2"])
        #expect(machine == SelectionMachine(state: .settled(a), blocks: TrialBlocks(wait("fix 2"))))
        #expect(machine.clearBlocks().map(\.description) == ["fix 2"])
        #expect(machine == SelectionMachine(state: .settled(a)))
    }

    @Test func `goes from trying back to pending when its files were altered, and blocks nothing`() {
        var machine = SelectionMachine(state: trying(a, b, launches: 2), previous: selection(["fix 0"], number: 0))
        let before = machine
        #expect(machine.interruptTrial() == .interrupted(to: a, damaged: b))
        #expect(machine.state == .pending(good: a, next: b.activating(.atNextLaunch)))
        #expect(machine.blocks == before.blocks && machine.earlier == before.earlier)
        #expect(machine.switchToPending(token: token(2)) == nil, "not before a launch, or a sync that mended it")
        #expect(machine.stage(b) == .unchanged)
        #expect(machine.switchToPending(token: token(2)) == .tryOut(b, token(2)))
    }

    @Test func `leaves a damaged one waiting, and runs what ran before without what was withdrawn`() {
        var machine = SelectionMachine(state: .pending(good: a, next: b))
        #expect(machine.awaitedTrial == b)
        #expect(machine.launch(token: token(1), at: now, isPendingDamaged: true) == .run(a, removed: []))
        #expect(machine.state == .pending(good: a, next: b))
        #expect(machine.launch(token: token(1), at: now) == .tryOut(b, token(1)))

        let (two, one) = (selection(["fix 1", "web 1"], number: 1), selection(["fix 2"], number: 2))
        machine = SelectionMachine(state: .pending(good: two, next: one))
        #expect(
            machine.launch(token: token(1), at: now, isPendingDamaged: true)
                == .run(selection(["fix 1"], number: 1), removed: [name("web")])
        )
        #expect(machine.state == .pending(good: two, next: one))

        machine = SelectionMachine(state: .pending(good: nil, next: b))
        #expect(machine.awaitedTrial == nil, "there is nothing else to run")
        machine = SelectionMachine(state: .pending(good: two, next: selection(["web 1"], number: 2)))
        #expect(machine.awaitedTrial == nil, "all that is left has proved itself")
    }

    @Test func `tells which trial is at its end`() {
        let machine = SelectionMachine(state: trying(a, b, launches: 2))
        #expect(machine.trial(of: token(1)) == b && machine.trial(of: token(2)) == nil)
        #expect(machine.trialAtItsLimit() == b && machine.trialAtItsLimit(3) == nil)
        #expect(SelectionMachine(state: .settled(a)).trialAtItsLimit() == nil)
    }

    // MARK: Withdrawal

    @Test func `settles at once when patches were only withdrawn`() {
        var machine = SelectionMachine(state: .pending(good: a, next: selection(["web 1"], number: 2)), previous: b)
        let left = selection(["web 1"], number: 2)
        #expect(machine.launch(token: token(1), at: now) == .run(left, removed: [name("fix")]))
        #expect(machine.state == .settled(left))
        #expect(machine.previous == nil, "the one before is the same now that fix is gone")
    }

    @Test func `is empty when everything was withdrawn, and nothing comes back`() {
        var machine = SelectionMachine(state: .pending(good: a, next: selection([], number: 2)), previous: b)
        let activation = machine.launch(token: token(1), at: now)
        #expect(activation == .run(selection([], number: 2), removed: [name("fix"), name("web")]))
        #expect(machine.state == .empty)
        #expect(machine.kept.isEmpty)
        #expect(machine.rollBack(at: now) == nil)
    }

    @Test func `does not bring a withdrawn patch back when the trial that removed it fails`() {
        let next = selection(["web 2"], number: 2)
        var machine = SelectionMachine(state: .pending(good: a, next: next))
        #expect(machine.switchToPending(token: token(1)) == .tryOut(next, token(1)))
        #expect(machine.timerEnded(token(1), at: now) == .rolledBack(to: selection(["web 1"], number: 1), from: next))
        #expect(machine.launch(token: token(2), at: now) == .run(selection(["web 1"], number: 1), removed: []))
    }

    @Test func `does not bring a withdrawn patch back by a roll back to the selection before`() {
        let next = selection(["web 2"], number: 3)
        var machine = SelectionMachine(
            state: .pending(good: b, next: next),
            previous: selection(["fix 1", "web 0"], number: 1)
        )
        _ = machine.switchToPending(token: token(1))
        #expect(machine.previous == selection(["web 0"], number: 1))
        _ = machine.timerEnded(token(1), at: now)
        #expect(
            machine.rollBack(at: now)
                == .rolledBack(to: selection(["web 0"], number: 1), from: selection(["web 1"], number: 2))
        )
    }

    @Test func `has nothing to go back to when all of it was withdrawn`() {
        let next = selection(["web 2"], number: 2)
        var machine = SelectionMachine(
            state: .pending(good: selection(["fix 2"], number: 1), next: next),
            previous: selection(["fix 1"], number: 1)
        )
        #expect(machine.switchToPending(token: token(1)) == .tryOut(next, token(1)))
        #expect(machine.state == trying(nil, next))
        #expect(machine.previous == nil)
        let before = machine
        #expect(machine.timerEnded(token(1), at: now) == .unproven(next))
        #expect(machine == before, "a device keeps what it has to run")
    }

    // MARK: Roll back by hand

    @Test func `goes back to the selection confirmed before, and blocks what differs at once`() {
        var machine = SelectionMachine(state: .settled(b), previous: a)
        #expect(machine.rollBack(at: now) == .rolledBack(to: a, from: b))
        #expect(machine.state == .settled(a))
        #expect(machine.previous == nil)
        #expect(
            machine.blocks.blocks == [
                installed("fix 2").content: .init(
                    version: name("2"),
                    failures: 2,
                    until: now.adding(.days(14)),
                    reason: .person
                )
            ]
        )
        #expect(machine.rollBack(at: now) == nil)
    }

    @Test func `goes back from pending and forgets what was pending`() {
        var machine = SelectionMachine(state: .pending(good: b, next: c), previous: a)
        #expect(machine.rollBack(at: now) == .rolledBack(to: a, from: b))
        #expect(machine.state == .settled(a))
    }

    @Test func `ends a trial when a person rolls back during it`() {
        var machine = SelectionMachine(state: trying(a, b))
        #expect(machine.rollBack(at: now) == .rolledBack(to: a, from: b))
        #expect(machine.blocks.blocks.values.map(\.reason) == [.person])
    }

    // MARK: When what waits may start

    @Test func `does not start by a switch what waits for the next launch`() {
        let late = b.activating(.atNextLaunch)
        var machine = SelectionMachine(state: .pending(good: a, next: late))
        #expect(machine.switchToPending(token: token(1)) == nil)
        #expect(machine.state == .pending(good: a, next: late))
        #expect(machine.launch(token: token(1), at: now) == .tryOut(late, token(1)))
    }

    @Test func `learns that what waits has become mandatory`() {
        var machine = SelectionMachine(state: .pending(good: a, next: b))
        #expect(machine.stage(selection(["fix 2", "web 1"], number: 9).activating(.atOnce)) == .unchanged)
        #expect(machine.state == .pending(good: a, next: b.activating(.atOnce)))
    }

    /// P8: chosen for the app as it was.
    @Test func `forgets what waits for an app that has changed, and nothing else`() {
        var machine = SelectionMachine(state: .pending(good: a, next: b), previous: c)
        machine.forgetPending()
        #expect(machine == SelectionMachine(state: .settled(a), previous: c))
        for state in [SelectionState.empty, .settled(a), trying(a, b)] {
            var machine = SelectionMachine(state: state)
            machine.forgetPending()
            #expect(machine.state == state)
        }
    }

    // MARK: What stays on disk

    /// M15: the setting `keep`.
    @Test(arguments: [(0, []), (1, [4]), (2, [4, 3]), (3, [4, 3, 2]), (10, [4, 3, 2, 1])])
    func `keeps as many of the selections confirmed before as it is told`(keep: Int, numbers: [Int]) {
        var machine = SelectionMachine()
        for number in 1...5 {
            _ = machine.stage(selection(["fix \(number)"], number: number))
            _ = machine.launch(token: token(1), at: now)
            _ = machine.confirm(token(1), keep: keep)
        }
        #expect(machine.earlier.map(\.number) == numbers)
        for number in numbers {
            guard case .rolledBack(let to, from: _) = machine.rollBack(at: now) else { break }
            #expect(to?.number == number)
        }
        #expect(machine.rollBack(at: now) == nil)
    }

    @Test func `keeps what runs, what waits, what is tried and the one before`() {
        #expect(SelectionMachine(state: .pending(good: b, next: c), previous: a).kept == [b, c, a])
        #expect(SelectionMachine(state: trying(b, c), previous: a).kept == [b, c, a])
        #expect(SelectionMachine(state: .settled(b), previous: a).kept == [b, a])
        #expect(SelectionMachine().kept == [])
    }
}
