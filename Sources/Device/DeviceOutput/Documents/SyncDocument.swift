import PatchChoice
package import PatchFormat
package import PatchSync
import SystemPackage

extension SyncReport {
    /// The exit code of the sync.
    ///
    /// - 0: everything is as listed.
    /// - 3: signatures or digests are invalid, or the server has been outdated for a day. Nothing else failed.
    /// - 6: versions do not fit on the disk. Nothing else failed.
    /// - 9: patches failed in other ways.
    package var code: ResultCode {
        let isOverdue = staleMirror?.isOverdue == true
        guard !isComplete || isOverdue else { return .done }
        let isRefused = !refused.isEmpty || !republished.isEmpty || isOverdue
        let isUnwritable = if case .refused = staging { true } else { false }
        let codes = Set(
            failures.map(\.error.code) + (isRefused ? [.refused] : []) + (isUnwritable ? [.malformed] : [])
        )
        return codes == [.refused] ? .refused : codes == [.disk] ? .disk : .partial
    }

    /// The document of `patchsync sync --json`.
    ///
    /// - Parameter scripts: the device's scripts after the sync.
    package func json(_ scripts: [InstalledScript]) -> JSON {
        SyncDocument.document.json(SyncDocument(report: self, scripts: scripts))
    }

    package var parametersError: SyncError? {
        if case .kept(let error) = parameters { error } else { nil }
    }
}

/// The values of `patchsync sync --json`.
package struct SyncDocument: Sendable {
    fileprivate let report: SyncReport
    fileprivate let scripts: [InstalledScript]

    private static let offer = OfferMembers<SyncReport>()

    package static let document = Document<SyncDocument>(
        "sync",
        title: "patchsync sync --json",
        "The result of a sync; one document, also with the exit codes 3, 6 and 9. If nothing could be judged, the document is that of "
            + "`patchsync schema error`. Members may be added."
    ) {
        offer.roleVersion.of { $0.report }
        Member(
            "staging",
            .oneOf(["staged", "unchanged", "unstaged", "trialRunning", "superseded", "refused"]),
            "staged: a new selection waits; unchanged: the listed versions run or wait already; unstaged: the pending selection is "
                + "no longer offered; trialRunning: nothing is staged before a trial is decided; superseded: the running selection changed "
                + "meanwhile, sync again; refused: it could not be written."
        ) { $0.report.staging.word }
        Member(optional: "stagingError", .text, "Why it was refused.") { $0.report.staging.why }
        Member(optional: "stateFault", Shapes.stateFault) { $0.report.stateFault }
        Member(optional: "activates", Shapes.activates) { $0.report.staging == .staged ? $0.report.activates : nil }
        Member("files", .integer(0...), "The number of downloaded objects.") { $0.report.filesReceived }
        Member("bytes", .integer(0...), "Their bytes.") { $0.report.bytesReceived }
        Member(
            optional: "transferred",
            .integer(0...),
            "The bytes of these files on the wire, mostly compressed, and of abandoned downloads."
        ) { $0.report.bytesTransferred }
        Member(optional: "packs", pack.list, "Bundles that were downloaded as a pack from an installed version.") {
            $0.report.packs.nonEmpty
        }
        offer.putOff.of { $0.report }
        offer.noRoom.of { $0.report }
        Member("patches", patch.list) { $0.report.states.with($0.scripts) }
        Member("healed", Shape.text.list, "Healed patches, as `web 1.0.0`.") { $0.report.healed.map(\.description) }
        offer.refused.of { $0.report }
        Member("failures", failure.list, "Patches that stay as they were.") { $0.report.failures }
        offer.decisions.of { $0.report }
        offer.keptEmbedded.of { $0.report }
        Member(optional: "unanswered", .text, "Why a question to the server got no answer.") {
            $0.report.unanswered?.description
        }
        offer.ignoredAnswers.of { $0.report }
        offer.mirrors.of { $0.report }
        Member(
            optional: "parameters",
            .oneOf(["changed", "removed", "kept"]),
            "kept: the last good ones, because of `parametersError`."
        ) { $0.report.parameters.word }
        Member(optional: "parametersError", .text) { $0.report.parametersError?.description }
        offer.staleMirror.of { $0.report }
    }

    private static let pack = Shape<PackUse>.object {
        Member("patchId", .text) { $0.label.patchID.text }
        Member("version", .text) { $0.label.version.text }
        Member("from", .text, "The installed version.") { $0.base.text }
        Member(optional: "through", .text, "The version between the two, if two packs were applied in a row.") {
            $0.through?.text
        }
        Member("bytes", .integer(0...), "The bytes of the packs.") { $0.bytes }
        Member("estimate", .integer(0...), "The estimated bytes without the packs.") { $0.estimate }
    }

    private static let patch = Shape<PatchStates>.object {
        Member("patchId", .text) { $0.patchID.text }
        Member("version", .text) { $0.version.text }
        Member("states", Shapes.patchState.list(atLeast: 1), "In order.") { $0.states }
        Member("meaning", Shapes.meaning) { $0.states.last?.meaning ?? "" }
        Member(optional: "fault", Shapes.fault) { $0.fault }
        Member(optional: "file", Shapes.file) { $0.file?.string }
    }

    private static let failure = Shape<PatchFailure>.object {
        Member("patchId", .text) { $0.patchID.text }
        Member("version", .text) { $0.version.text }
        Member("error", .text) { $0.error.description }
    }
}

extension ParametersUpdate {
    /// The result in a word, or nil if there is nothing to report.
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
    fileprivate var word: String { why == nil ? "\(self)" : "refused" }

    fileprivate var why: String? {
        if case .refused(let why) = self { why.description } else { nil }
    }
}
