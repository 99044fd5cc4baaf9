import PatchFormat

@testable import PatchChoice

extension DeviceReportTranscripts {
    /// Each outcome once.
    var explained: Explanation {
        let outcomes: [Explanation.Outcome] = [
            .installed, .taken, .staged, .held(.postponed(until: Sample.after)), .held(.window(opens: Sample.after)),
            .behind(Sample.version), .afterTrial, .replaced(by: Sample.version),
            .passedOver(.paused(reason: "a bad release")),
            .below(Sample.version), .embeddedStays,
        ]
        return Explanation(
            roleVersion: 7,
            time: Sample.time,
            versions: outcomes.map { outcome in
                Explanation.Version(
                    label: Sample.label,
                    kind: .bundle,
                    sha256: Sample.digest,
                    judgments: outcome == .taken ? judgments : [],
                    outcome: outcome
                )
            }
        )
    }

    private var judgments: [Judgment] {
        [
            Judgment(rule: .pause, needs: nil, has: "not paused", obstacle: nil, turns: []),
            Judgment(rule: .appVersion, needs: ">=2.1", has: "2.4", obstacle: nil, turns: []),
            Judgment(
                rule: .condition,
                needs: "region==eu",
                has: nil,
                obstacle: .condition("region==eu"),
                turns: [.facts(["region==eu"])]
            ),
        ]
    }

    /// Each once.
    var turns: [Turn] {
        [
            .appVersion(">=2.1"), .facts(["region==eu", "level>=3"]), .user, .time(Sample.after),
            .unblock(Sample.after),
            .dial, .resume, .approval(Sample.label), .dialRollout(from: 2_500, to: 3_043),
            .signedRollout(from: 5, to: 10_000), .place,
            .nativePart("5e5e"), .nativePart(nil), .engine("moonPhase"), .readableCondition, .label, .sync,
            .network(allowance: nil), .network(allowance: 48_294), .room(68_700_000),
        ]
    }
}
