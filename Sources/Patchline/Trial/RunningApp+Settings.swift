package import PatchChoice
package import PatchFormat
package import PatchSync

extension RunningApp {
    /// What a person watching the launch is told.
    package enum Event: Equatable, Sendable {
        case nothingInstalled
        case serving(Selection, trial: LaunchToken?)
        /// Another process chose another channel.
        case following(ChannelName)
        /// Gone by this launch: they were withdrawn.
        case withdrawn([PatchID])
        /// Found when somebody asked for them; not served until a sync heals them.
        case damaged([String])
        case confirmed(Selection)
        case rolledBack(to: Selection?, from: Selection)
        /// Not confirmed in its time; it stays, for there is nothing to go back to.
        case unproven(Selection)
        /// What runs has other bundles than the one that is to be served.
        case bundleMissing(PatchID, there: [PatchID])
        /// `state.json` cannot be read, and what the device goes by in its place.
        case stateFault(StateFault)
        /// The operator told apps of this channel something else.
        case parametersChanged(OnlineParameters)
        /// State could not be read or written; what is served stays.
        case trouble(SyncError)
    }

    package struct Settings: Sendable {
        /// How long a trial has to say that it works.
        package var startupTimeout = Duration.seconds(20)
        /// From when on that goes, and a launch counts.
        package var startupTimer = TrialStart.firstPage
        /// How long the first page of a trial waits for a sync under way to end; then it counts all the same.
        package var syncPatience = Duration.seconds(5)
        package var launchLimit = SelectionMachine.defaultLaunchLimit
        /// Which bundle is served, where a selection holds several.
        package var bundle: PatchID?
        /// Whether this host evaluates script patches: then a selection with new scripts alone starts at once.
        package var runsScripts = false
        /// How often `state.json` is looked at.
        package var watchInterval = Duration.milliseconds(50)

        package init() {}
    }
}
