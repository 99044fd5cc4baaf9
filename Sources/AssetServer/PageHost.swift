package import PatchFormat

/// What stands behind a page's calls: the app that runs on this device.
package protocol PageHost: Sendable {
    /// A page of this launch is asked for, for the first time; returns once it may be answered, by whatever is served then.
    func pageRequested(_ launch: String) async
    /// - Parameter token: of the launch that the page speaks for.
    func confirm(_ token: String) async -> ReadyOutcome
    func switchToPending() async -> Switching
    /// Returns at once; what the check comes to is told as events.
    func checkForUpdates() async -> CheckStart
    func status() async -> PageStatus
    func parameters() async -> PageParameters
    /// What a person would send to whoever can help: versions, states, faults; no token, no user, no device id.
    func debugReport() async -> JSON
}

/// What became of a page's "I am ready".
package enum ReadyOutcome: String, Sendable {
    case confirmed, alreadyConfirmed, otherLaunch, failed
}

/// What became of a page's wish to run what waits.
package enum Switching: Sendable {
    case switched
    /// In words.
    case refused(String)
}

/// What became of a page's wish to look for a new version.
package enum CheckStart: String, Sendable {
    case started, alreadyRunning, switchedOff
}

/// Which versions there are, for a page to show.
package struct PageStatus: Equatable, Sendable {
    package var app: String
    package var channel: String
    /// Of the bundle that new pages get; nil before the first install.
    package var current: String?
    /// Of the bundle that waits.
    package var pending: String?
    /// From when on it may start, by name.
    package var starts: String?
    /// RFC 3339.
    package var lastSync: String?

    package init(app: String, channel: String) {
        self.app = app
        self.channel = channel
    }

    /// - Parameters:
    ///   - running: of the page that asks.
    ///   - onTrial: whether that one still has to be confirmed.
    func json(running: String?, onTrial: Bool, sync: PageState.Sync) -> JSON {
        func orNull(_ text: String?) -> JSON { text.map { .text($0) } ?? .null }
        return .fields([
            ("app", .text(app)), ("channel", .text(channel)), ("running", orNull(running)),
            ("onTrial", .bool(onTrial)), ("current", orNull(current)), ("pending", orNull(pending)),
            ("starts", starts.map { .text($0) }), ("sync", sync.json), ("lastSync", orNull(lastSync)),
        ])
    }
}
