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
        .fields(
            [
                ("roleVersion", .integer(roleVersion)), ("staging", .text(staging.word)),
                ("stagingError", staging.why.map { .text($0) }),
                ("stateFault", stateFault.map { .fields($0.members) }),
                ("activates", staging == .staged ? .text(activates.rawValue) : nil),
                ("files", .integer(filesReceived)), ("bytes", .integer(bytesReceived)),
                ("transferred", .integer(bytesTransferred)),
                ("packs", packs.isEmpty ? nil : .array(packs.map(\.json))),
                ("putOff", putOff.isEmpty ? nil : .array(putOff.map(\.json))),
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
                ("refused", refusedJSON),
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
                ("unanswered", unanswered.map { .text($0.description) }),
                ("parameters", parameters.word.map { .text($0) }),
                ("parametersError", parametersError.map { .text($0.description) }),
            ] + offerMembers
        )
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
        tell(unanswered: unanswered, on: out, errors: errors)
        if let parametersError {
            errors.line(
                "warning: the last good parameters stay: \(printable(parametersError.description))"
            )
        }
        warn(on: errors)
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
