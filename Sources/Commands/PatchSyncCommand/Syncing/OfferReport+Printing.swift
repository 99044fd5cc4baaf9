import DeviceOutput
import PatchChoice
import PatchFormat
import PatchSync
import CommandKit

extension OfferReport {
    /// - Parameter unanswered: The reason why the server did not answer.
    func printOffer(unanswered: SyncError? = nil, on out: Console, errors: Console) {
        for decision in decisions {
            for passed in decision.passedOver where !passed.why.hasOwnLine { out.line(decision.words(passed)) }
            if let part = decision.server, let version = decision.choice.version {
                out.line("\(decision.patchID) \(version): \(part == .forced ? "forced" : "chosen") by the server")
            }
            if case .withdraw(let patch, for: let before) = decision.choice {
                let afterwards = before.map { "returns to \($0.version)" } ?? "removed"
                out.line("\(patch.label): withdrawn; \(afterwards) at the next launch")
            }
        }
        if let unanswered { out.line("the server gave no answer: \(printable(unanswered.description))") }
        for version in putOff { out.line(version.words) }
        for version in noRoom { out.line(version.words) }
        for ignored in ignoredAnswers { out.line(printable(ignored.description)) }
        if let keptEmbedded {
            out.line("the app embeds release \(keptEmbedded), the server lists \(roleVersion): nothing was installed")
        }
        if let staleMirror, !staleMirror.isOverdue { out.line("\(staleMirror)") }
        if let staleMirror, staleMirror.isOverdue {
            errors.line("warning: \(staleMirror)")
            errors.line("hint: check the server or mirror, or the network for replayed metadata")
        }
    }

    func warn(on errors: Console) {
        for fault in mirrors where !fault.isQuiet {
            errors.line("warning: \(printable(fault.description))")
        }
    }
}

extension MirrorFault {
    /// Whether the fault is not printed here: a delay is irrelevant for a day, and a longer one has a separate message.
    fileprivate var isQuiet: Bool {
        if case .stale = wrong { true } else { false }
    }
}

extension Decision {
    func words(_ passed: PassedOver) -> String {
        "\(patchID) \(passed.version): \(printable(passed.why.description))"
    }
}

extension NotEligible {
    /// Whether the version has a separate line.
    fileprivate var hasOwnLine: Bool {
        switch self {
        case .metered, .noRoom: true
        default: false
        }
    }
}
