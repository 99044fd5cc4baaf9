/// When a launch begins to count against its trial, and its startup timer starts.
package enum TrialStart: Sendable {
    /// The trial counts from the launch itself. This is for hosts that have no pages.
    case launch
    /// The trial counts from its first page. If the process ends before that, it does not count against the version.
    case firstPage

    /// Whether the launch counts at once.
    ///
    /// A selection without a bundle has no pages to request.
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
