package import PatchFormat

/// The app behind a page's calls.
package protocol PageHost: Sendable {
    /// A page of this launch is shown for the first time; returns once its trial has begun, or another selection is served.
    func pageShown(_ launch: String) async
    /// A page of another version is on the screen and does not go: a service worker or another cache keeps it.
    ///
    /// - Parameter version: of that page, if known.
    func pageStaysStale(_ version: String?) async
    /// - Parameter token: of the launch that the page speaks for.
    func confirm(_ token: String) async -> ReadyOutcome
    /// A script that the page had from here failed in it.
    func scriptFailed(_ failure: ScriptFailure, _ sha256: SHA256Digest) async -> ScriptFailureOutcome
    /// A page of this launch reports an error of its own.
    func pageFailed(_ error: PageError, in launch: String) async
    func switchToPending() async -> Switching
    /// Returns at once; the outcome of the check is reported as events.
    func checkForUpdates() async -> CheckStart
    func status() async -> PageStatus
    func parameters() async -> PageParameters
    /// A report for whoever can help: versions, states, faults; no token, no user, no device id.
    func debugReport() async -> JSON
}

extension PageHost {
    /// For a host whose versions are never on trial.
    package func pageFailed(_ error: PageError, in launch: String) async {}
    package func pageStaysStale(_ version: String?) async {}
}

/// The outcome of a page's "I am ready".
package enum ReadyOutcome: String, Sendable {
    case confirmed, alreadyConfirmed, otherLaunch, failed
}

/// The outcome of a page's request to run the pending version.
package enum Switching: Sendable {
    case switched
    /// In words.
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
    /// Of the bundle that new pages get; nil before the first install.
    package var current: String?
    /// Of the pending bundle.
    package var pending: String?
    /// When it may start, by name.
    package var starts: String?
    /// Why the pending bundle must not start yet: `{"code": "postponed", "until": "…"}`.
    package var hold: JSON?
    /// Versions that wait for somebody's approval: `{"patchId": …, "version": …, "security": {…}}`.
    package var awaiting: [JSON] = []
    /// Scripts that failed in pages of this start, each with its last failure.
    package var failedScripts: [ScriptFailure] = []
    /// RFC 3339.
    package var lastSync: String?

    package init(app: String, channel: String) {
        self.app = app
        self.channel = channel
    }

    /// - Parameters:
    ///   - running: the version of the page that asks.
    ///   - onTrial: whether that version still has to be confirmed.
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
