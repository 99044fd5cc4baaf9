import PatchFormat

extension Dial {
    /// The share that restricts nothing.
    static let everyDevice = 10_000

    /// The dial that a release is published with; nil if the published one stays.
    ///
    /// - Parameters:
    ///   - published: The channel's dial; nil if it has none.
    ///   - starts: The versions that begin restricted.
    ///   - entries: The release's, in whose order the rows are.
    static func next(
        after published: Dial?,
        starting starts: [StartedVersion],
        of entries: [PatchEntry],
        in channel: ChannelName,
        of app: AppID
    ) -> Dial? {
        guard !starts.isEmpty else {
            guard let published, case let kept = published.keeping(entries) else { return nil }
            return kept.rows.count < published.rows.count ? kept : nil
        }
        var rows = published?.rows ?? []
        for version in starts {
            let row = Row(version)
            rows.removeAll { $0.patchID == row.patchID && $0.sha256 == row.sha256 }
            if !row.saysNothing { rows.append(row) }
        }
        return Dial(app: app, channel: channel, rows: rows).keeping(entries)
    }
}

extension Dial.Row {
    fileprivate init(_ version: StartedVersion) {
        let (share, paused): (Int, Bool) =
            switch version.start {
            case .share(let share): (share, false)
            case .paused(let share): (share ?? Dial.everyDevice, true)
            case .ramp(let ramp): (ramp.first, false)
            }
        self.init(
            patchID: version.label.patchID,
            sha256: version.sha256,
            rollout: share,
            paused: paused,
            reason: nil
        )
    }
}
