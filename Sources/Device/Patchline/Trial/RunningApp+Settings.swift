package import PatchChoice
package import PatchFormat
import PatchSync

extension RunningApp {
    package struct Settings: Sendable {
        /// How long a trial has to be confirmed.
        package var startupTimeout = Duration.seconds(20)
        /// When that time begins, and a launch counts.
        package var startupTimer = TrialStart.firstPage
        /// How long the first page of a trial waits for a running sync to end; then it counts all the same.
        package var syncPatience = Duration.seconds(5)
        package var launchLimit = SelectionMachine.defaultLaunchLimit
        /// Which bundle is served, where a selection holds several.
        package var bundle: PatchID?
        /// Whether this host evaluates script patches: then a selection with new scripts alone starts at once.
        package var runsScripts = false
        /// The least time between two looks at the files that are followed.
        package var watchInterval = Duration.milliseconds(50)
        /// How often they are looked at where the system does not tell of changes: an idle device is to sleep all the same.
        package var unwatchedInterval = Duration.seconds(1)

        package init() {}
    }
}
