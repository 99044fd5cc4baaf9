package import PatchChoice
package import PatchFormat
import PatchSync

extension RunningApp {
    package struct Settings: Sendable {
        /// How long a trial has to be confirmed.
        package var startupTimeout = Duration.seconds(20)
        /// When that time begins, and a launch is counted.
        package var startupTimer = TrialStart.firstPage
        /// How long the first page of a trial waits for a running sync.
        ///
        /// After that the launch counts even if the sync continues.
        package var syncPatience = Duration.seconds(5)
        package var launchLimit = SelectionMachine.defaultLaunchLimit
        /// The id of the served bundle, if a selection contains several.
        package var bundle: PatchID?
        /// Whether this host runs script patches.
        ///
        /// A selection with only new scripts then starts at once.
        package var runsScripts = false
        /// The shortest time between two checks of the followed files.
        package var watchInterval = Duration.milliseconds(50)
        /// The time between checks if the system does not report changes.
        ///
        /// Long enough that an idle device sleeps between them.
        package var unwatchedInterval = Duration.seconds(1)

        package init() {}
    }
}
