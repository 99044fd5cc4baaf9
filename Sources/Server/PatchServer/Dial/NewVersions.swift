package import PatchFormat

/// The versions that a release lists and the previous one did not.
///
/// Pure: the dial and the schedules are decided from the same values.
struct NewVersions: Sendable {
    struct Version: Sendable {
        let entry: PatchEntry
        /// Whether the channel listed its label at any time: a rollback lists it again.
        let wasListed: Bool
    }

    let versions: [Version]

    /// - Parameters:
    ///   - listed: The entries of the previous release, none for a channel's first.
    ///   - wasListed: Whether the channel listed a label at any time.
    init(_ entries: [PatchEntry], after listed: [PatchEntry], wasListed: (Label) -> Bool) {
        let before = Set(listed.map(\.content))
        versions = entries.filter { !before.contains($0.content) }.map { entry in
            Version(entry: entry, wasListed: wasListed(entry.label))
        }
    }

    /// How each version begins: by the caller's options, else by the channel's default.
    ///
    /// The default does not restrict a version that the channel listed before: a rollback reaches every device.
    ///
    /// - Parameter share: The channel's default, in devices of 10,000.
    /// - Throws: `notNew` for a patch in the options without a new version, and `aboveCeiling`.
    func starts(
        by wish: StartingRollout?,
        default share: Int?,
        in channel: ChannelName
    ) throws(DialRefusal) -> [StartedVersion] {
        let new = Set(versions.map(\.entry.patchID))
        if let id = wish?.patches.keys.filter({ !new.contains($0) }).min() { throw .notNew(channel, id) }
        var starts: [StartedVersion] = []
        for version in versions {
            let entry = version.entry
            let usual = version.wasListed ? nil : share
            let start: StartingRollout.Start
            switch wish?.start(of: entry.patchID) {
            case nil:
                guard let usual else { continue }
                start = .share(usual)
            case .paused(let share):
                if let share { try entry.allow(share) }
                start = .paused(at: share ?? usual)
            case .share(let share):
                try entry.allow(share)
                start = .share(share)
            case .ramp(let ramp):
                try entry.allow(ramp.last)
                start = .ramp(ramp)
            }
            starts.append(StartedVersion(label: entry.label, sha256: entry.fingerprint.sha256, start: start))
        }
        return starts
    }
}

extension PatchEntry {
    fileprivate struct Content: Hashable {
        let patchID: PatchID
        let sha256: SHA256Digest
    }

    fileprivate var content: Content { Content(patchID: patchID, sha256: fingerprint.sha256) }
    fileprivate var label: Label { Label(patchID: patchID, version: version) }

    func allow(_ share: Int) throws(DialRefusal) {
        guard share <= rules.rollout else {
            throw .aboveCeiling(patchID, version, asked: share, ceiling: rules.rollout)
        }
    }
}

/// A version that begins restricted, by the caller's options or the channel's default.
package struct StartedVersion: Hashable, Sendable {
    package let label: Label
    package let sha256: SHA256Digest
    package let start: StartingRollout.Start

    init(label: Label, sha256: SHA256Digest, start: StartingRollout.Start) {
        (self.label, self.sha256, self.start) = (label, sha256, start)
    }

    /// One line; `channel` and `options` complete the command that continues the rollout.
    ///
    /// - Parameter options: The server for another command, with a space before it.
    package func words(in channel: ChannelName, options: String = "") -> String {
        let command = "patchsrv rollout \(label.patchID)@\(label.version) SHARE --channel \(channel)\(options)"
        switch start {
        case .share(let share): return "\(RolloutShare(share)) of devices may install \(label); \(command) changes it"
        case .paused: return "\(label) is paused; \(command) starts it"
        case .ramp(let ramp):
            let first = "\(RolloutShare(ramp.first)) of devices may install \(label)"
            let rest = ramp.steps.dropFirst().map { "\(RolloutShare($0))" }.joined(separator: ", ")
            return rest.isEmpty ? first : "\(first), then \(rest), a step every \(ramp.everyText)"
        }
    }

    package init(_ fields: Fields) throws(FormatError) {
        label = Label(patchID: try fields.name("patchId"), version: try fields.name("version"))
        sha256 = try fields.digest("sha256")
        start = try StartingRollout.Start(fields)
    }

    /// The entry in the audit record.
    package var json: JSON {
        var members = start.json.object ?? JSONObject()
        members["patchId"] = .text(label.patchID.text)
        members["version"] = .text(label.version.text)
        members["sha256"] = .text(sha256.hex)
        return .object(members)
    }

    func json(in channel: ChannelName) -> JSON {
        var members = json.object ?? JSONObject()
        members["words"] = .text(words(in: channel))
        return .object(members)
    }
}
