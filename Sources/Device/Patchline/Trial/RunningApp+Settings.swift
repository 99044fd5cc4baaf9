package import AssetServer
package import PatchChoice
package import PatchFormat
package import PatchSync

extension RunningApp {
    /// An event for a person who watches the launch.
    package enum Event: Equatable, Sendable {
        case nothingInstalled
        case serving(Selection, trial: LaunchToken?)
        /// Another process chose another channel.
        case following(ChannelName)
        /// Removed by this launch: they were withdrawn.
        case withdrawn([PatchID])
        /// Found on request; not served until a sync heals them.
        case damaged([String])
        case confirmed(Selection)
        /// - Parameter because: nil if nothing of `from` is blocked.
        case rolledBack(to: Selection?, from: Selection, because: Setback?)
        /// A page says that a script of it failed, or was not loaded.
        case scriptFailed(ScriptFailure)
        /// A page that scripts are for came without them.
        case scriptsLeftOut(page: String, PagePlan.Reason)
        /// A page of another version stays on the screen, whatever it reloads; its version, if known.
        case stalePage(version: String?)
        /// Not confirmed in time; it stays, because there is nothing to go back to.
        case unproven(Selection)
        /// Neither confirmed nor failed: a sync chose another selection before the trial was decided.
        case superseded(Selection, by: Selection)
        /// The running selection has other bundles than the one to serve.
        case bundleMissing(PatchID, there: [PatchID])
        /// `state.json` cannot be read; the fault names the state used instead.
        case stateFault(StateFault)
        /// The operator changed the channel's online parameters.
        case parametersChanged(OnlineParameters)
        /// State could not be read or written; the served selection stays.
        case trouble(SyncError)
    }

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

extension RunningApp.Event {
    /// A trial that ended without a result, in words.
    ///
    /// - Parameter next: the versions in its place; nil if it was removed without another.
    package static func superseded(_ version: String, replacedBy next: String?) -> String {
        "the trial of \(version) ended without a result: the latest sync \(next.map { "chose \($0)" } ?? "removed it")"
    }

    /// A stale page, in words.
    package static func stalePage(_ version: String?) -> String {
        "a page of \(version ?? "another version") stays on the screen: a service worker or another cache keeps it"
    }
}
