package import PatchFormat

/// An operator's change of the dial, for one version of a patch or for all listed versions.
package struct DialChange: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        case everyVersion
        case version(VersionLabel)
        case content(SHA256Digest)
    }

    package enum Action: Hashable, Sendable {
        case pause
        case resume
        /// The share of devices, in devices of 10,000, at most the signed ceiling.
        case rollout(Int)
        /// How many devices may install it; never lowered.
        case headcount(Int)
        /// Resumes the version with the schedule's first share; the server raises it step by step.
        case ramp(RolloutRamp)
    }

    package let patchID: PatchID
    package let subject: Subject
    package let action: Action
    /// The reason, which remains in the dial until the next change.
    ///
    /// Devices show it while they wait for a version.
    package let reason: DialReason?

    package init(_ action: Action, of patchID: PatchID, _ subject: Subject = .everyVersion, reason: DialReason? = nil) {
        self.patchID = patchID
        self.subject = subject
        self.action = action
        self.reason = reason
    }

    func isAbout(_ entry: PatchEntry) -> Bool {
        isAbout(entry.patchID, entry.version, entry.fingerprint.sha256)
    }

    package func isAbout(_ version: DialState.Version) -> Bool {
        isAbout(version.patchID, version.version, version.sha256)
    }

    package func isAbout(_ id: PatchID, _ label: VersionLabel, _ digest: SHA256Digest) -> Bool {
        guard id == patchID else { return false }
        return switch subject {
        case .everyVersion: true
        case .version(let version): label == version
        case .content(let sha256): digest == sha256
        }
    }
}

extension DialChange {
    /// The syntax for the subject of a change: `web`, `web@1.4.2` or `web@sha256:…`.
    package static let subjectRule = "must be PATCH, PATCH@VERSION or PATCH@sha256:DIGEST"

    package static func subject(_ text: some StringProtocol) -> (PatchID, Subject)? {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let id = PatchID(String(parts[0])) else { return nil }
        guard parts.count == 2 else { return (id, .everyVersion) }
        if parts[1].hasPrefix("sha256:") {
            return SHA256Digest(hex: String(parts[1].dropFirst(7))).map { (id, .content($0)) }
        }
        return VersionLabel(String(parts[1])).map { (id, .version($0)) }
    }

    /// The text that ``subject(_:)`` parses.
    package var subjectText: String {
        switch subject {
        case .everyVersion: patchID.text
        case .version(let version): "\(patchID)@\(version)"
        case .content(let sha256): "\(patchID)@sha256:\(sha256.hex)"
        }
    }
}

/// Why an operator changed a dial, for other operators and for device owners.
package struct DialReason: Hashable, Sendable {
    package static let limit = 500
    package static let rule = String.oneLineRule(upTo: limit)

    package let text: String

    package init?(_ text: String) {
        guard text.isOneLine(upTo: Self.limit) else { return nil }
        self.text = text
    }
}
