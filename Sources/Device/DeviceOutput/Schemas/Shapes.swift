import PatchChoice
import PatchFormat
import PatchSync
import SystemPackage

/// The shapes that several documents share.
enum Shapes {
    static let time = Shape.text(pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")
        .of { (time: UTCTime) in time.description }
        .named("time", "RFC 3339, in UTC, to the second.")

    static let sha256 = Shape.text(pattern: "^[0-9a-f]{64}$")
    static let kind = Shape<PatchKind>.oneOf([.script, .bundle])
    static let setback = Shape.oneOf(["startupTimer", "launchLimit", "scriptFailed", "byHand"])

    static let launch = Shape.text(pattern: "^[0-9a-f]{32}$")
        .of { (token: LaunchToken) in token.text }
        .named("launch", "The token of a launch on trial, for `patchsync confirm`.")

    /// The order in `patchsync schema`.
    private static let states: [PatchState] = [
        .unknownError, .unInstall, .success, .fileNotExist, .fileNotMatch, .update, .add,
    ]

    static let patchState = Shape.oneOf(states.map(\.name))
        .of { (state: PatchState) in state.name }
        .named(
            "patchState",
            "UnKnownError: the bytes are the signed ones and unusable; UnInstall: downloaded, starts later; Success: installed; "
                + "FileNotExist: a file is missing; FileNotMatch: a file is altered; Update: listed with other bytes than the "
                + "installed ones; Add: new in the list."
        )

    static let meaning = Shape.text.named("meaning", "The state in plain words.")
    static let file = Shape.text.named(
        "file",
        "The absolute path of an intact script's file, which contains the signed bytes."
    )
    static let fault = Shape.text.named("fault", "The damaged file and its damage. The next sync heals it.")

    static let activates = Shape.oneOf(ActivationTime.allCases).named(
        "activates",
        "When the pending selection starts. atOnce: immediately in a running `serve`; anyTime: at any moment, because only scripts "
            + "are new; atReload: at a reload, `switch` or launch; atNextLaunch: at the next launch and not before."
    )

    static let stateFault = Shape<StateFault>.object {
        Member("file", .text) { $0.file.string }
        Member("error", .text, "In words.") { $0.error.description }
        Member("standby", .oneOf(StateFault.Standby.allCases), "The state that the device uses instead.") { $0.standby }
    }
    .named("stateFault", "state.json could not be read.")

    static let reason = Shape.text(pattern: "^[a-zA-Z]+$").named(
        "reason",
        "The rule that excludes the version: rollout, paused, dialMissing, appVersion, condition, users, unknownRule, waiting, blocked, "
            + "rolledBackByHand, transferWaiting, notReceived, metered, incompatible, republished, unmet, breaks, noPlace, held, "
            + "notChosen, unapproved; more may be added."
    )

    static let pageError = Shape<PageError>.object {
        Member("message", .text(atMost: PageError.longestMessage)) { $0.message }
        Member(optional: "source", .text(atMost: PageError.longestSource), "The script's path.") { $0.source }
        Member("line", .integer(0...), "From 1; 0 if unknown.") { $0.line }
        Member("column", .integer(0...)) { $0.column }
    }
    .named("pageError", "The first error of a page on trial, or of a script, as the browser words it.")

    static let syncFailure = Shape<SyncFailure>.object {
        Member("at", time, "The last failure.") { $0.time }
        Member("since", time, "The first failure in a row.") { $0.since }
        Member("inARow", .integer(1...), "The number of failed syncs in a row.") { $0.inARow }
        Member("code", .oneOf(SyncFailureCode.allCases)) { $0.code }
        Member("reason", .text, "The code in words.") { $0.code.words }
        Member("error", .text, "The error's sentence.") { $0.text }
        Member(optional: "patchId", .text, "The version that could not be downloaded, if the sync itself continued.") {
            $0.label?.patchID.text
        }
        Member(optional: "version", .text) { $0.label?.version.text }
    }
    .named("syncFailure", "The last sync failed; missing after a successful one.")

    static let noRoom = Shape<OversizedVersion>.object {
        Member("patchId", .text) { $0.label.patchID.text }
        Member("version", .text) { $0.label.version.text }
        Member("needs", .integer(0...), "Bytes that it still needs on the disk.") { $0.wait.needs }
        Member("free", .integer(0...), "Bytes that are free.") { $0.wait.free }
        Member("reserve", .integer(0...), "Bytes that downloads leave free.") { $0.wait.reserve }
    }

    static let advisory = Shape<SecurityAdvisory>.object {
        Member("text", .text) { $0.text }
        Member(optional: "url", .text) { $0.url }
    }

    static let logLine = Shape<JSON>.object {
        Member(given: "at", time)
        Member(
            given: "by",
            Shape.oneOf(["sync", "serve", "run", "rollback", "switch", "approve", "postpone"]),
            "The command that wrote the line."
        )
        Member(given: "type", Shape.integer(0...), "The event's number, as in the local API.")
        Member(given: "typeName", Shape.text)
        Member(given: "event", Shape.text)
        Member(given: "text", Shape.text, "In words.")
        Member(given: "patchId", Shape.text, isRequired: false)
        Member(given: "version", Shape.text, isRequired: false)
        Member(given: "data", Shape.anyObject, isRequired: false)
    }
    .named("logLine", "A line of `patchsync log --json`.")
}

extension Array {
    /// The array, or nil if it is empty.
    var nonEmpty: Self? { isEmpty ? nil : self }
}
