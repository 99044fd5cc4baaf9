import DeviceOutput
import PatchChoice
import PatchFetch
import PatchFormat
import PatchSync
import PatchTrust
import SystemPackage
import CommandKit

extension SyncReport {
    func print(
        on out: Console = .standardOutput,
        errors: Console = .standardError
    ) {
        if !states.isEmpty {
            Table(
                ["PATCH", "VERSION", "NOW", "NOTE", "STATE"],
                rows: states.map { patch in
                    [
                        .init(patch.patchID.text), .init(patch.version.text),
                        .init(patch.words(start), patch.states.last?.style), .init(patch.fault ?? ""),
                        .init(patch.states.map(\.name).joined(separator: " → ")),
                    ]
                }
            ).write(to: out)
        }
        printOffer(unanswered: unanswered, on: out, errors: errors)
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
    /// When the downloaded versions start.
    private var start: PatchProgress.Start {
        switch staging {
        case .staged: activates.start
        case .trialRunning: .afterTrial
        case .unchanged, .unstaged, .superseded, .refused: .unknown
        }
    }
}

extension PatchStates {
    fileprivate func words(_ start: PatchProgress.Start) -> String {
        guard let last = states.last else { return "" }
        return PatchProgress.words(from: states.dropLast().first, to: last, start: start)
    }
}

extension PackUse {
    var words: String {
        let way = through.map { "2 packs from \(base) through \($0)" } ?? "a pack from \(base)"
        // For files that do not compress, the estimate may be lower than the pack. No saving is known then.
        let instead = estimate > bytes ? " instead of about \(ByteText(estimate))" : ""
        return "\(label) by \(way): \(ByteText(bytes))\(instead)"
    }
}

extension SelectionMachine.Staging {
    fileprivate func sentence(_ time: ActivationTime) -> String {
        switch self {
        case .staged: "staged: \(time.sentence)"
        case .unchanged: "nothing new"
        case .unstaged: "the staged version is no longer offered"
        case .trialRunning:
            "a trial is running; nothing is staged before it is confirmed, or its startup timer or launches end"
        case .superseded: "the active version changed meanwhile; sync again"
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

extension ActivationTime {
    /// A remark about a version that starts at this time, or an empty string.
    var remark: String {
        switch self {
        case .atOnce: "mandatory"
        case .anyTime, .atReload: "now: `patchsync switch`"
        case .atNextLaunch: ""
        }
    }
}

extension PatchState {
    var style: Style {
        switch self {
        case .success: .green
        case .unInstall, .update, .add: .cyan
        case .unknownError, .fileNotExist, .fileNotMatch: .red
        }
    }
}
