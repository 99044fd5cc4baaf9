import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchTesting
import Testing

@testable import PatchSync

@Suite("A launch that cannot be written down")
struct UnsavedLaunchTests {
    private static let good = selection(["web 1"], number: 1)
    private static let next = selection(["web 2"], number: 2)
    private static let launch = SelectionState.TrialLaunch(token: SimulatedDevice.token(1), launches: 1)

    @Test(arguments: [
        (SelectionState.empty, nil),
        (.settled(good), good),
        (.pending(good: good, next: next), good),
        (.trying(good: good, trial: next, launch: launch), good),
    ])
    func `runs what was confirmed, never a trial that nobody counts`(_ state: SelectionState, _ runs: Selection?) {
        let expected = runs.map { SelectionMachine.Activation.run($0, removed: []) } ?? .nothing
        #expect(SelectionMachine(state: state).unsavedLaunch == expected)
    }

    @Test(arguments: [
        SelectionState.pending(good: nil, next: next), .trying(good: nil, trial: next, launch: launch),
    ])
    func `runs the unproven selection where there is nothing else`(_ state: SelectionState) {
        #expect(SelectionMachine(state: state).unsavedLaunch == .run(Self.next, removed: []))
    }
}
