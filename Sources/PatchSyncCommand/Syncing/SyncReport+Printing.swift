import DeviceOutput
import PatchChoice
import PatchFetch
import PatchFormat
import PatchSync
import PatchTrust
import SystemPackage
import Terminal

extension SyncReport {
    func print(
        on out: Console = .standardOutput,
        errors: Console = .standardError
    ) {
        if !states.isEmpty {
            Table(
                ["PATCH", "VERSION", "STATE", "NOTE"],
                rows: states.map { patch in
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

extension PackUse {
    var words: String {
        let way = through.map { "2 packs from \(base) through \($0)" } ?? "a pack from \(base)"
        // Of files that do not shrink, the estimate may be lower than the pack: then nothing is known to be saved.
        let instead = estimate > bytes ? " instead of about \(ByteText(estimate))" : ""
        return "\(label) by \(way): \(ByteText(bytes))\(instead)"
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
