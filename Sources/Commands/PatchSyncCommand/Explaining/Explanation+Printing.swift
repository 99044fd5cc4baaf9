import PatchChoice
import PatchFormat
import PatchSync
import CommandKit

extension Explanation {
    /// - Parameter failure: The last sync's failure.
    func print(to out: Console, after failure: SyncFailure? = nil) {
        out.line("by the list of role version \(roleVersion), at \(time)")
        if let failure { out.line(failure.sentence(at: time)) }
        for version in versions {
            out.line("")
            version.print(to: out, at: time)
        }
        if versions.isEmpty { out.line("it lists nothing") }
    }
}

extension Explanation.Version {
    /// The version and its outcome in one sentence.
    var sentence: String { "\(printable(label.description)): \(printable(outcome.text))" }

    fileprivate func print(to out: Console, at time: UTCTime) {
        let wait = { (until: UTCTime) in DurationText(until.since(time)).description }
        out.line(sentence)
        var table = Table(["  RULE", "PASSES", "NEEDS", "THIS DEVICE", "WOULD PASS WITH"])
        for judgment in judgments {
            table.add([
                .init("  \(judgment.rule.rawValue)"),
                judgment.obstacle == nil ? .init("yes") : .init("no", .bold),
                .init(judgment.needs ?? ""), .init(judgment.has ?? (judgment.needs == nil ? "" : "nothing")),
                .init(judgment.turns.map { $0.text(wait: wait) }.joined(separator: "; ")),
            ])
        }
        table.write(to: out)
    }
}

extension Explanation.Outcome {
    fileprivate var text: String {
        switch self {
        case .installed: "installed, and stays"
        case .taken: "the next sync installs it"
        case .staged: "downloaded; it waits for the next launch"
        case .behind(let version): "not considered until \(version), which is listed before it, is installed or fails"
        case .held(let hold): "downloaded, and must not start yet: it is \(hold)"
        case .afterTrial: "a sync installs it once the running trial has ended"
        case .replaced(by: let version): "installed; \(version) replaces it"
        case .passedOver(let why): "not for this device now: \(why)"
        case .below(let version): "below \(version), and a device never moves to a lower version"
        case .embeddedStays: "the embedded version stays: it was made from this list, or a newer one"
        }
    }
}
