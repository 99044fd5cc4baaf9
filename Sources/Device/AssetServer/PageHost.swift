package import PatchFormat

/// The app that answers a page's calls.
package protocol PageHost: Sendable {
    /// A page of this launch is shown for the first time. Returns once its trial has begun, or another selection is served.
    func pageShown(_ launch: String) async
    /// A page of another version stays on the screen, because a service worker or another cache keeps it.
    ///
    /// - Parameter version: The page's version, if known.
    func pageStaysStale(_ version: String?) async
    /// - Parameter token: The token of the launch that the page belongs to.
    func confirm(_ token: String) async -> ReadyOutcome
    /// A script that the device delivered to a page failed in it.
    func scriptFailed(_ failure: ScriptFailure, _ sha256: SHA256Digest) async -> ScriptFailureOutcome
    /// A page of this launch reports its own error.
    func pageFailed(_ error: PageError, in launch: String) async
    func switchToPending() async -> Switching
    /// Begins a check and returns at once. The outcome is reported as events.
    func checkForUpdates() async -> CheckStart
    func status() async -> PageStatus
    func parameters() async -> PageParameters
    /// Returns a report for support: versions, states and faults. It contains no token, user or device id.
    func debugReport() async -> JSON
}

extension PageHost {
    /// Does nothing, for a host whose versions are never on trial.
    package func pageFailed(_ error: PageError, in launch: String) async {}
    package func pageStaysStale(_ version: String?) async {}
}

/// The outcome of a page's confirmation.
package enum ReadyOutcome: String, Sendable {
    case confirmed, alreadyConfirmed, otherLaunch, failed
}

/// The outcome of a page's request to start the pending version.
package enum Switching: Sendable {
    case switched
    /// Rejected, with the reason in words.
    case refused(String)
}

/// The outcome of a page's request to check for a new version.
package enum CheckStart: String, Sendable {
    case started, alreadyRunning, switchedOff
}

/// The versions, for a page to show.
package struct PageStatus: Equatable, Sendable {
    package var app: String
    package var channel: String
    /// The version of the bundle that new pages receive, or nil before the first install.
    package var current: String?
    /// The version of the pending bundle.
    package var pending: String?
    /// The name of the time when it may start.
    package var starts: String?
    /// The reason why the pending bundle must not start yet: `{"code": "postponed", "until": "…"}`.
    package var hold: JSON?
    /// The versions that wait for approval: `{"patchId": …, "version": …, "security": {…}}`.
    package var awaiting: [JSON] = []
    /// The scripts that failed in pages of this start, each with its last failure.
    package var failedScripts: [ScriptFailure] = []
    /// The time of the last sync, in RFC 3339 format.
    package var lastSync: String?

    package init(app: String, channel: String) {
        self.app = app
        self.channel = channel
    }

    /// - Parameters:
    ///   - running: The version of the page that asks.
    ///   - onTrial: Whether that version still has to be confirmed.
    func json(running: String?, onTrial: Bool, sync: PageState.Sync) -> JSON {
        func orNull(_ text: String?) -> JSON { text.map { .text($0) } ?? .null }
        return .fields([
            ("app", .text(app)), ("channel", .text(channel)), ("running", orNull(running)),
            ("onTrial", .bool(onTrial)), ("current", orNull(current)), ("pending", orNull(pending)),
            ("starts", starts.map { .text($0) }), ("hold", hold),
            ("awaiting", awaiting.isEmpty ? nil : .array(awaiting)), ("sync", sync.json),
            ("failedScripts", failedScripts.isEmpty ? nil : .array(failedScripts.map(\.json))),
            ("lastSync", orNull(lastSync)),
        ])
    }
}
