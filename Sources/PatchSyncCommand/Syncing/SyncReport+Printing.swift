import PatchChoice
import PatchFetch
import PatchFormat
import PatchSync
import PatchTrust
import SystemPackage
import Terminal

extension SyncReport {
    /// 0 when everything is as listed, 3 when something was refused by its signature or digest, or the server has been
    /// behind for a day, and nothing else failed; 9 when patches failed in other ways.
    var exitCode: ExitCode {
        let isOverdue = staleMirror?.isOverdue == true
        guard !isComplete || isOverdue else { return .done }
        let isRefused = !refused.isEmpty || !republished.isEmpty || isOverdue
        let isUnwritable = if case .refused = staging { true } else { false }
        let codes = Set(
            failures.map(\.error.exitCode) + (isRefused ? [.refused] : []) + (isUnwritable ? [.malformed] : [])
        )
        return codes == [.refused] ? .refused : .partial
    }

    func json(_ patches: [SyncTranscript.PatchStates]) -> JSON {
        .fields([
            ("roleVersion", .integer(roleVersion)), ("staging", .text(staging.word)),
            ("stagingError", staging.why.map { .text($0) }),
            ("stateFault", stateFault.map { .fields($0.members) }),
            ("activates", staging == .staged ? .text(activates.rawValue) : nil),
            ("files", .integer(filesReceived)), ("bytes", .integer(bytesReceived)),
            ("transferred", .integer(bytesTransferred)),
            ("packs", packs.isEmpty ? nil : .array(packs.map(\.json))),
            (
                "patches",
                .array(
                    patches.map { patch in
                        .fields([
                            ("patchId", .text(patch.patchID.text)), ("version", .text(patch.version.text)),
                            ("states", .array(patch.states.map { .text($0.name) })),
                            ("meaning", patch.states.last.map { .text($0.meaning) }),
                            ("fault", patch.fault.map { .text($0) }), ("file", patch.file.map { .text($0.string) }),
                        ])
                    }
                )
            ),
            ("healed", .array(healed.map { .text($0.description) })),
            ("refused", .array(refused.map { .text($0.fault.description) })),
            (
                "failures",
                .array(
                    failures.map { failure in
                        .fields([
                            ("patchId", .text(failure.patchID.text)), ("version", .text(failure.version.text)),
                            ("error", .text(failure.error.description)),
                        ])
                    }
                )
            ),
            ("decisions", .array(decisions.map(\.json))),
            ("keptEmbedded", keptEmbedded.map { .integer($0) }),
            ("unanswered", unanswered.map { .text($0.description) }),
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
            ("parameters", parameters.word.map { .text($0) }),
            ("parametersError", parametersError.map { .text($0.description) }),
            (
                "staleMirror",
                staleMirror.map {
                    .fields([
                        ("offered", .integer($0.offered)), ("known", .integer($0.known)),
                        ("overdue", .bool($0.isOverdue)),
                    ])
                }
            ),
        ])
    }

    func print(
        _ patches: [SyncTranscript.PatchStates],
        on out: Console = .standardOutput,
        errors: Console = .standardError
    ) {
        if !patches.isEmpty {
            Table(
                ["PATCH", "VERSION", "STATE", "NOTE"],
                rows: patches.map { patch in
                    let states =
                        patch.states.dropLast().map { "\($0.name) → " }.joined()
                        + (patch.states.last?.shown ?? "")
                    return [
                        .init(patch.patchID.text), .init(patch.version.text), .init(states, patch.states.last?.style),
                        .init(patch.fault ?? ""),
                    ]
                }
            ).write(to: out)
        }
        for decision in decisions {
            for passed in decision.passedOver { out.line(decision.words(passed)) }
            if let part = decision.server, let version = decision.choice.version {
                out.line("\(decision.patchID) \(version): \(part == .forced ? "forced" : "chosen") by the server")
            }
            if case .withdraw(let patch, for: let before) = decision.choice {
                let afterwards = before.map { "goes back to \($0.version)" } ?? "gone"
                out.line("\(patch.label): withdrawn; \(afterwards) at the next launch")
            }
        }
        if let unanswered { out.line("the server gave no answer: \(printable(unanswered.description))") }
        for ignored in ignoredAnswers { out.line(printable(ignored.description)) }
        if let keptEmbedded {
            out.line("the app ships release \(keptEmbedded), the server lists \(roleVersion): nothing was taken")
        }
        if let staleMirror, !staleMirror.isOverdue { out.line("\(staleMirror)") }
        if let staleMirror, staleMirror.isOverdue {
            errors.line("warning: \(staleMirror)")
            errors.line("hint: look at the server or mirror; or someone replays old metadata")
        }
        if let parametersError {
            errors.line(
                "warning: the last good parameters stay: \(printable(parametersError.description))"
            )
        }
        for fault in mirrors where !fault.isQuiet {
            errors.line("warning: \(printable(fault.description))")
        }
        let transferred = bytesTransferred == bytesReceived ? "" : " (\(ByteText(bytesTransferred)) transferred)"
        let received = "\(ByteText(bytesReceived)) received\(transferred)"
        out.line("\(Words.count(filesReceived, "file")), \(received); \(staging.sentence(activates))")
    }
}

extension SyncReport {
    fileprivate var parametersError: SyncError? {
        if case .kept(let error) = parameters { error } else { nil }
    }
}

extension PackUse {
    var words: String {
        let way = through.map { "2 packs from \(base) through \($0)" } ?? "a pack from \(base)"
        return "\(label) by \(way): \(ByteText(bytes)) instead of about \(ByteText(estimate))"
    }

    fileprivate var json: JSON {
        .fields([
            ("patchId", .text(label.patchID.text)), ("version", .text(label.version.text)), ("from", .text(base.text)),
            ("through", through.map { .text($0.text) }),
            ("bytes", .integer(bytes)), ("estimate", .integer(estimate)),
        ])
    }
}

extension ParametersUpdate {
    /// Nil where there is nothing to say.
    fileprivate var word: String? {
        switch self {
        case .unchanged: nil
        case .changed: "changed"
        case .removed: "removed"
        case .kept: "kept"
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

extension SelectionMachine.Staging {
    fileprivate func sentence(_ time: ActivationTime) -> String {
        switch self {
        case .staged: "staged: \(time.sentence)"
        case .unchanged: "nothing new"
        case .unstaged: "what was staged is no longer offered"
        case .trialRunning:
            "a trial is running; nothing is staged before it is confirmed, or its startup timer or launches end"
        case .superseded: "what runs changed meanwhile; sync again"
        case .refused(let why): "nothing was staged: this device could not read it again: \(printable(why.description))"
        }
    }

    fileprivate var word: String { why == nil ? "\(self)" : "refused" }

    fileprivate var why: String? {
        if case .refused(let why) = self { why.description } else { nil }
    }
}

extension ActivationTime {
    /// `it waits for …`.
    var sentence: String {
        switch self {
        case .atOnce: "it is mandatory; a running `patchsync serve` switches at once, else the next launch does"
        case .anyTime, .atReload: "it waits for the next launch or `patchsync switch`"
        case .atNextLaunch: "it waits for the next launch"
        }
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

extension PatchState {
    /// The state's name, and in plain words what it says: `UnInstall` is no removal.
    var shown: String { "\(name) (\(meaning))" }

    var style: Style {
        switch self {
        case .success: .green
        case .unInstall, .update, .add: .cyan
        case .unknownError, .fileNotExist, .fileNotMatch: .red
        }
    }
}
