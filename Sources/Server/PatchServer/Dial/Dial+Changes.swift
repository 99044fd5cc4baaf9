import PatchFormat

extension Dial {
    /// The dial of a channel that lists `entries`, without rows of versions no longer listed.
    func keeping(_ entries: [PatchEntry]) -> Dial {
        with(entries.compactMap { row($0.patchID, $0.fingerprint.sha256) })
    }

    /// The dial after `changes`, in order; rows are in the order of the list.
    ///
    /// A paused version keeps its share for the time when it resumes. A row without effect is left out: without a row the signed
    /// ceiling applies.
    func turned(by changes: [DialChange], of entries: [PatchEntry]) throws(DialRefusal) -> Dial {
        var rows = entries.map { row($0.patchID, $0.fingerprint.sha256) ?? .unrestricted(for: $0) }
        for change in changes {
            var isListed = false
            for (index, entry) in entries.enumerated() where change.isAbout(entry) {
                rows[index] = try rows[index].turned(by: change, of: entry)
                isListed = true
            }
            guard isListed else { throw .notListed(channel, change.subjectText) }
        }
        return with(rows.filter { !$0.isUnrestricted })
    }

    /// Rejects a dial that is too large for devices.
    func checkSize() throws(ServerError) {
        let size = json.fileBytes.count
        guard size <= Limits.dial else { throw .dial(.tooLarge(size: size, limit: Limits.dial)) }
    }

    private func with(_ rows: [Row]) -> Dial {
        Dial(app: app, channel: channel, rows: rows)
    }
}

extension Dial.Row {
    fileprivate static func unrestricted(for entry: PatchEntry) -> Dial.Row {
        Dial.Row(
            patchID: entry.patchID,
            sha256: entry.fingerprint.sha256,
            rollout: Dial.everyDevice,
            paused: false,
            reason: nil
        )
    }

    var isUnrestricted: Bool { rollout == Dial.everyDevice && !paused && reason == nil && headcount == nil }

    /// The reason is the last change's.
    ///
    /// A change without effect and reason keeps the previous reason.
    fileprivate func turned(by change: DialChange, of entry: PatchEntry) throws(DialRefusal) -> Dial.Row {
        var (rollout, paused, headcount) = (rollout, paused, headcount)
        switch change.action {
        case .pause: paused = true
        case .resume: paused = false
        case .rollout(let share):
            try entry.allow(share)
            rollout = share
        case .headcount(let count):
            // A device with a place keeps it, so a lower number cannot be enforced.
            if let headcount, count < headcount {
                throw .headcountLowered(entry.patchID, entry.version, asked: count, current: headcount)
            }
            headcount = count
        case .ramp(let ramp):
            try entry.allow(ramp.last)
            (rollout, paused) = (ramp.first, false)
        }
        let isSame = rollout == self.rollout && paused == self.paused && headcount == self.headcount
        return Dial.Row(
            patchID: patchID,
            sha256: sha256,
            rollout: rollout,
            paused: paused,
            reason: change.reason?.text ?? (isSame ? reason : nil),
            headcount: headcount
        )
    }
}

extension Dial {
    /// The share that restricts nothing.
    static let everyDevice = 10_000

    /// The dial to publish with a release; nil if the published one stays.
    ///   - entries: The release's entries. The rows have their order.
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
            if !row.isUnrestricted { rows.append(row) }
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
