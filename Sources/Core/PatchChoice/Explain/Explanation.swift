package import PatchFormat
import PatchCrypto
package import PatchTrust

/// Why a device does or does not install each listed version.
///
/// A pure value, computed from the list and the dial that were verified last, and from the device's facts and history.
package struct Explanation: Equatable, Sendable {
    /// The outcome for a listed version.
    package enum Outcome: Equatable, Sendable {
        /// It is installed and stays.
        case installed
        /// The next sync installs it.
        case taken
        /// It is downloaded and waits for its launch.
        case staged
        /// It is downloaded and must not start yet.
        case held(ActivationHold)
        /// It is not considered while this version, which is listed above it, cannot be downloaded.
        case behind(VersionLabel)
        /// A sync installs it after the running trial has ended.
        case afterTrial
        /// It is installed, and the next sync replaces it by this one.
        case replaced(by: VersionLabel)
        case passedOver(NotEligible)
        /// It is below this version, which the device has or chooses. Devices never move to a lower version.
        case below(VersionLabel)
        /// The embedded version stays until a list appears that is newer than the one it was made from.
        case embeddedStays
    }

    package struct Version: Equatable, Sendable {
        package let label: Label
        package let kind: PatchKind
        package let sha256: SHA256Digest
        package let judgments: [Judgment]
        package let outcome: Outcome

        /// The changes that would make the version eligible, as far as its own rules are concerned.
        package var turns: [Turn] { judgments.flatMap(\.turns) }
    }

    package let roleVersion: Int
    package let time: UTCTime
    /// The listed versions, in the order of the list.
    package let versions: [Version]

    init(roleVersion: Int, time: UTCTime, versions: [Version]) {
        (self.roleVersion, self.time, self.versions) = (roleVersion, time, versions)
    }

    /// - Parameter hold: Why the pending selection must not start now.
    package init(list: VerifiedList, plan: SyncPlan, hold: ActivationHold? = nil) {
        self.init(
            list.entries,
            roleVersion: list.roleVersion,
            decisions: plan.decisions,
            base: plan.base,
            under: plan.context,
            staged: plan.pending,
            hold: hold,
            isTrial: plan.isTrial,
            embeddedStays: plan.keptEmbedded != nil
        )
    }

    /// - Parameters:
    ///   - base: The selection that all choices are based on.
    ///   - staged: The pending selection.
    ///   - isTrial: Whether a trial is running, so that new versions wait for its end.
    ///   - embeddedStays: Whether the list is not newer than the embedded versions.
    package init(
        _ entries: [PatchEntry],
        roleVersion: Int,
        decisions: [Decision],
        base: Selection?,
        under context: EligibilityContext,
        staged: Selection? = nil,
        hold: ActivationHold? = nil,
        isTrial: Bool = false,
        embeddedStays: Bool = false
    ) {
        let decisions = Dictionary(decisions.map { ($0.patchID, $0) }) { first, _ in first }
        self.roleVersion = roleVersion
        time = context.device.time
        versions = entries.map { entry in
            let decision = decisions[entry.patchID]
            return Version(
                label: Label(patchID: entry.patchID, version: entry.version),
                kind: entry.kind,
                sha256: entry.fingerprint.sha256,
                judgments: context.judgments(of: entry, over: base?[entry.patchID]),
                outcome: Outcome(
                    of: entry,
                    decision,
                    staged: staged?[entry.patchID]?.content == entry.content ? hold.map { .held($0) } ?? .staged : nil,
                    isTrial: isTrial,
                    embeddedStays: embeddedStays
                )
            )
        }
    }
}

extension Explanation.Outcome {
    fileprivate init(
        of entry: PatchEntry,
        _ decision: Decision?,
        staged: Self?,
        isTrial: Bool,
        embeddedStays: Bool
    ) {
        let choice = decision?.choice ?? .none
        if choice.content == entry.content {
            if case .take = choice {
                self = staged ?? (isTrial ? .afterTrial : .taken)
            } else {
                self = .installed
            }
        } else if case .take(let next, over: let current) = choice, current?.content == entry.content {
            self = .replaced(by: next.version)
        } else if embeddedStays {
            self = .embeddedStays
        } else if let passed = decision?.passedOver.first(where: { $0.version == entry.version }) {
            self = .passedOver(passed.why)
        } else if let staged {
            self = staged
        } else if let above = decision?.passedOver.last(where: { $0.why == .notReceived || $0.why.isMetered }) {
            self = .behind(above.version)
        } else {
            self = .below(choice.versionAfter ?? entry.version)
        }
    }

    package var code: String {
        switch self {
        case .installed: "installed"
        case .taken: "taken"
        case .staged: "staged"
        case .held(let hold): hold.code
        case .behind: "behind"
        case .afterTrial: "afterTrial"
        case .replaced: "replaced"
        case .passedOver: "passedOver"
        case .below: "below"
        case .embeddedStays: "embeddedStays"
        }
    }
}

extension Explanation {
    /// The explanation of one patch, or of one version of it.
    package func only(_ id: PatchID, _ version: VersionLabel?) -> Explanation {
        Explanation(
            roleVersion: roleVersion,
            time: time,
            versions: versions.filter { $0.label.patchID == id && (version == nil || $0.label.version == version) }
        )
    }
}

extension Explanation.Version {
    package var json: JSON {
        var outcome: [(String, JSON?)] = [("code", .text(self.outcome.code))]
        switch self.outcome {
        case .passedOver(let why): outcome += [("why", .text(why.code)), ("text", .text(why.description))]
        case .below(let version), .behind(let version), .replaced(by: let version):
            outcome.append(("version", .text(version.text)))
        case .held(let hold): outcome.append(("until", .text(hold.until.description)))
        case .installed, .taken, .staged, .afterTrial, .embeddedStays: break
        }
        return .fields([
            ("patchId", .text(label.patchID.text)), ("version", .text(label.version.text)),
            ("kind", .text(kind.rawValue)), ("sha256", .text(sha256.hex)), ("outcome", .fields(outcome)),
            ("rules", .array(judgments.map(\.json))),
        ])
    }
}
