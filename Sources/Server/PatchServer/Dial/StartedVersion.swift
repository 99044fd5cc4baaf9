package import PatchFormat

/// A version that begins restricted, by the caller's wish or the channel's default.
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

    /// The record.
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
