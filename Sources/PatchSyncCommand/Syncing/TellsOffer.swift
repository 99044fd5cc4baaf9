import PatchChoice
import PatchFormat
import PatchSync
import PatchTrust
import Terminal

/// What a sync and its dry run both tell of a channel's offer.
protocol TellsOffer {
    var roleVersion: Int { get }
    var decisions: [Decision] { get }
    var refused: [RefusedEntry] { get }
    var keptEmbedded: Int? { get }
    var ignoredAnswers: [IgnoredAnswer] { get }
    var mirrors: [MirrorFault] { get }
    var staleMirror: StaleMirror? { get }
    var putOff: [PutOffVersion] { get }
}

extension SyncReport: TellsOffer {}
extension SyncForecast: TellsOffer {}

extension TellsOffer {
    var refusedJSON: JSON { .array(refused.map { .text($0.fault.description) }) }

    var offerMembers: [(String, JSON?)] {
        [
            ("decisions", .array(decisions.map(\.json))),
            ("keptEmbedded", keptEmbedded.map { .integer($0) }),
            (
                "ignoredAnswers",
                ignoredAnswers.isEmpty
                    ? nil
                    : .array(
                        ignoredAnswers.map {
                            .fields([("patchId", .text($0.patchID.text)), ("why", .text($0.description))])
                        }
                    )
            ),
            ("mirrors", mirrors.isEmpty ? nil : .array(mirrors.map(\.json))),
            (
                "staleMirror",
                staleMirror.map {
                    .fields([
                        ("offered", .integer($0.offered)), ("known", .integer($0.known)),
                        ("overdue", .bool($0.isOverdue)),
                    ])
                }
            ),
        ]
    }

    /// - Parameter unanswered: why a question got no answer.
    func tell(unanswered: SyncError? = nil, on out: Console, errors: Console) {
        for decision in decisions {
            for passed in decision.passedOver where !passed.why.isMetered { out.line(decision.words(passed)) }
            if let part = decision.server, let version = decision.choice.version {
                out.line("\(decision.patchID) \(version): \(part == .forced ? "forced" : "chosen") by the server")
            }
            if case .withdraw(let patch, for: let before) = decision.choice {
                let afterwards = before.map { "goes back to \($0.version)" } ?? "gone"
                out.line("\(patch.label): withdrawn; \(afterwards) at the next launch")
            }
        }
        if let unanswered { out.line("the server gave no answer: \(printable(unanswered.description))") }
        for version in putOff { out.line(version.words) }
        for ignored in ignoredAnswers { out.line(printable(ignored.description)) }
        if let keptEmbedded {
            out.line("the app ships release \(keptEmbedded), the server lists \(roleVersion): nothing was taken")
        }
        if let staleMirror, !staleMirror.isOverdue { out.line("\(staleMirror)") }
        if let staleMirror, staleMirror.isOverdue {
            errors.line("warning: \(staleMirror)")
            errors.line("hint: look at the server or mirror; or someone replays old metadata")
        }
    }

    func warn(on errors: Console) {
        for fault in mirrors where !fault.isQuiet {
            errors.line("warning: \(printable(fault.description))")
        }
    }
}

extension MirrorFault {
    /// A lag is nobody's business for a day, and the last one's is told of in its own words.
    fileprivate var isQuiet: Bool {
        if case .stale = wrong { true } else { false }
    }

    fileprivate var json: JSON {
        let (what, why) =
            switch wrong {
            case .failed(let error): ("failed", error.description)
            case .stale(let stale): ("stale", stale.description)
            case .lied(let error): ("lied", error.description)
            }
        return .fields([("server", .text(server)), ("what", .text(what)), ("why", .text(why))])
    }
}

extension Decision {
    fileprivate var json: JSON {
        let word =
            switch choice {
            case .take: "take"
            case .keep: "keep"
            case .none: "none"
            case .withdraw: "withdraw"
            }
        let part: String? =
            switch server {
            case .chose: "chosen"
            case .forced: "forced"
            case nil: nil
            }
        return .fields([
            ("patchId", .text(patchID.text)), ("choice", .text(word)),
            ("version", choice.version.map { .text($0.text) }),
            ("goesBackTo", choice.versionBefore.map { .text($0.text) }), ("server", part.map { .text($0) }),
            ("passedOver", .array(passedOver.map { .fields($0.members) })),
        ])
    }

    func words(_ passed: PassedOver) -> String {
        "\(patchID) \(passed.version): \(printable(passed.why.description))"
    }
}

extension Decision.PassedOver {
    var members: [(String, JSON?)] {
        [("version", .text(version.text)), ("code", .text(why.code)), ("why", .text(why.description))]
    }
}

extension Choice {
    fileprivate var version: VersionLabel? {
        switch self {
        case .take(let entry, over: _): entry.version
        case .keep(let patch), .withdraw(let patch, for: _): patch.version
        case .none: nil
        }
    }

    fileprivate var versionBefore: VersionLabel? {
        if case .withdraw(_, for: let before) = self { before?.version } else { nil }
    }
}

extension NotEligible {
    /// It is said in a line of its own.
    fileprivate var isMetered: Bool {
        if case .metered = self { true } else { false }
    }
}
