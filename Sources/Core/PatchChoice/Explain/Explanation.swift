package import PatchFormat
import PatchCrypto
package import PatchTrust

/// Why a device gets or does not get each listed version: what its choice was made of.
///
/// Pure: from the list and the dial as last verified, and what the device is and had.
package struct Explanation: Equatable, Sendable {
    /// What becomes of a listed version.
    package enum Outcome: Equatable, Sendable {
        /// It is installed, and stays.
        case installed
        /// The next sync takes it.
        case taken
        /// It is downloaded, and waits for its launch.
        case staged
        /// It is downloaded, and must not start yet.
        case held(ActivationHold)
        /// It is not looked at while this one, which stands above it, does not come.
        case behind(VersionLabel)
        /// A sync takes it once the trial that runs has ended.
        case afterTrial
        /// It is installed, and gives way to this one at the next sync.
        case replaced(by: VersionLabel)
        case passedOver(NotEligible)
        /// It stands below this one, which the device has or takes: nothing moves a device down.
        case below(VersionLabel)
        /// The version that ships in the app stays until a newer list comes than the one that it was made from.
        case embeddedStays
    }

    package struct Version: Equatable, Sendable {
        package let label: Label
        package let kind: PatchKind
        package let sha256: SHA256Digest
        package let judgments: [Judgment]
        package let outcome: Outcome

        /// With all of these the device would take it, as far as its own rules go.
        package var turns: [Turn] { judgments.flatMap(\.turns) }
    }

    package let roleVersion: Int
    package let time: UTCTime
    /// In list order.
    package let versions: [Version]

    init(roleVersion: Int, time: UTCTime, versions: [Version]) {
        (self.roleVersion, self.time, self.versions) = (roleVersion, time, versions)
    }

    /// - Parameter hold: what keeps the pending selection from starting.
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
    ///   - base: the selection that was the base of every choice.
    ///   - staged: the selection that waits for its launch.
    ///   - isTrial: whether a trial runs, so that nothing new is taken before it ends.
    ///   - embeddedStays: whether the list is no newer than what the app ships.
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
    /// What it says of one patch, or of one version of it.
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
