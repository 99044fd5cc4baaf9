/// From when on a launch counts against the trial that it runs, and its startup timer goes.
package enum TrialStart: Sendable {
    /// With the launch itself: for hosts that have no pages.
    case launch
    /// When its first page is shown. An end of the process before that does not count against the version.
    case firstPage

    /// A selection without a bundle has no page that somebody could ask for.
    func isAtOnce(for selection: Selection) -> Bool {
        switch self {
        case .launch: true
        case .firstPage: !selection.hasBundle
        }
    }
}

extension SelectionState.TrialLaunch {
    /// The launch after this one.
    func next(_ token: LaunchToken, isCounted: Bool) -> Self {
        Self(
            token: token,
            launches: min(launches + (isCounted ? 1 : 0), Self.most),
            isCounted: isCounted,
            error: error
        )
    }
}
