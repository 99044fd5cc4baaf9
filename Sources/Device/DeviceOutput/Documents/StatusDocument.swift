package import PatchChoice
package import PatchFormat
package import PatchSync
package import Patchline
import SystemPackage

/// The values of `patchsync status --json`.
package struct StatusDocument: Sendable {
    package let report: StatusReport
    package let configuration: DeviceConfiguration
    /// The stored live pages; nil if there are none, or if the caller does not show them.
    package var livePages: KeptPages?
    /// The debug information; nil without `--debug`.
    package var debug: JSON?

    package init(_ report: StatusReport, _ configuration: DeviceConfiguration) {
        (self.report, self.configuration) = (report, configuration)
    }

    package var json: JSON { Self.document.json(self) }
}

extension StatusReport {
    package func json(_ configuration: DeviceConfiguration) -> JSON { StatusDocument(self, configuration).json }

    /// Whether the embedded selection is the running one.
    package var runsEmbedded: Bool {
        guard let embedded = machine.embedded else { return false }
        return machine.state.running?.contents == embedded.contents
    }

    /// When the pending selection may start.
    package var pendingActivation: ActivationTime? {
        if case .pending(_, let next) = machine.state { next.activates } else { nil }
    }

    fileprivate var trial: SelectionState.TrialLaunch? {
        if case .trying(_, _, let launch) = machine.state { launch } else { nil }
    }
}

extension StatusDocument {
    package static let document = Document<StatusDocument>(
        "status",
        title: "patchsync status --json",
        "The state of a device; one document. Members may be added."
    ) {
        Member("app", .text) { $0.configuration.app.text }
        Member("channel", .text) { $0.configuration.channel.text }
        Member("server", .text) { $0.configuration.server.text }
        Member(
            "phase",
            .oneOf(StatusReport.Phase.allCases),
            "empty: nothing is installed; settled: the running versions are confirmed; pending: a new selection waits; trying: the "
                + "running versions are on trial."
        ) { $0.report.phase }
        Member(optional: "lastSync", Shapes.time, "The last successful sync.") { $0.report.lastSync?.at }
        Member(optional: "lastFailure", Shapes.syncFailure) { $0.report.syncFailure }
        Member(optional: "roleVersion", .integer(1...), "The release of the last successful sync.") {
            $0.report.lastSync?.roleVersion
        }
        Member(optional: "appBuild", .text) { $0.configuration.appBuild?.text }
        Member(
            "host",
            .oneOf(PagesHost.allCases),
            "The name under which pages are served. An own name is secret and not shown."
        ) {
            $0.configuration.pages.host
        }
        Member("ownHost", .flag, "Whether that is a host of the app's own.") { $0.configuration.host != nil }
        Member(
            optional: "reserve",
            .integer(0...),
            "Bytes of the disk that downloads leave free; missing for the default."
        ) {
            $0.configuration.reserve
        }
        Member(
            "entrySignatures",
            .oneOf(EntrySignatures.allCases),
            "required: the signature of each entry of a bundle's manifest is checked; manifest: only the signature of its list entry is."
        ) { $0.configuration.entrySignatures }
        Member(optional: "embedded", embedded, "The files embedded in the app.") {
            $0.configuration.embedded == nil ? nil : $0
        }
        Member(optional: "launch", Shapes.launch) { $0.report.trial?.token }
        Member(optional: "pageError", Shapes.pageError) { $0.report.trial?.error }
        Member(
            optional: "unproven",
            .mark,
            "The running version was not confirmed in time and stays, because there is no other."
        ) { $0.report.machine.isUnproven ? () : nil }
        Member(optional: "stateFault", Shapes.stateFault) { $0.report.fault }
        Member(optional: "damagedState", .text, "The unreadable state file that was set aside.") {
            $0.report.damagedState?.string
        }
        Member(
            optional: "livePages",
            livePages,
            "The kept live pages and the files they link to; bytes without records."
        ) {
            $0.livePages
        }
        Member("patches", patch.list, "The running versions and the pending ones, by id.") {
            PatchRow.all(of: $0.report)
        }
        Member("blocks", block.list, "Versions that failed here or were rolled back by hand.") { document in
            document.report.machine.blocks.blocks.sorted { $0.key < $1.key }.map { content, block in
                BlockRow(content: content, block: block, next: document.report.retries[content])
            }
        }
        Member(
            "transfers",
            transfer.list,
            "Versions that could not be downloaded; without `until` the next sync tries again."
        ) { $0.report.transfers.counts.sorted { $0.key < $1.key }.map { TransferRow(content: $0, count: $1) } }
        Member("unfit", unfit.list, "Bundles for another native part.") {
            $0.report.unfit.rows.sorted { $0.key < $1.key }.map { ContentRow(content: $0, row: $1) }
        }
        Member(optional: "network", network, "How syncs use the network.") { $0.configuration.network }
        Member(
            optional: "putOff",
            putOff.list,
            "Versions that the last sync left for an unmetered network."
        ) { document in
            let rows = document.report.putOff.rows.sorted { $0.key < $1.key }.map { ContentRow(content: $0, row: $1) }
            return rows.isEmpty ? nil : rows
        }
        Member(optional: "noRoom", Shapes.noRoom.list, "Versions that do not fit on the disk.") {
            $0.report.noRoom.nonEmpty
        }
        Member(optional: "withdrawn", leaving.list, "The running versions that the next launch removes.") {
            $0.report.leaving.nonEmpty
        }
        Member("passedOver", passedOver.list, "Listed versions that are not for this device now.") {
            $0.report.heldBack.map { PassedRow(patchID: $0.decision.patchID, passed: $0.passed) }
        }
        Member(optional: "activates", Shapes.activates) { $0.report.pendingActivation }
        Member(optional: "policy", policy, "The owner's decisions about new versions.") { $0.configuration.policy }
        Member(optional: "hold", hold, "Why the pending selection does not start yet.") { $0.report.hold }
        Member(
            optional: "windowZoneFault",
            .text,
            "Why the time zone of the windows cannot be read; new versions wait meanwhile."
        ) { $0.report.zoneFault?.description }
        Member(optional: "postponed", postponed, "The start of new versions is postponed.") { $0.report.postponed }
        Member(
            optional: "security",
            secured.list,
            "Listed versions above the installed ones that close a security hole."
        ) { document in document.report.security.compactMap(SecuredRow.init).nonEmpty }
        Member(optional: "debug", debug, "With --debug.") { $0.debug }
    }
}

// MARK: Parts

extension StatusDocument {
    private static let embedded = Shape<StatusDocument>.object {
        Member("folder", .text) { $0.configuration.embedded?.string ?? "" }
        Member(optional: "roleVersion", .integer(1...)) { $0.report.machine.embedded?.roleVersion }
        Member("running", .flag, "Whether these are the running versions.") { $0.report.runsEmbedded }
    }

    private static let livePages = Shape<KeptPages>.object {
        Member("pages", .integer(0...)) { $0.pages }
        Member("pageBytes", .integer(0...)) { $0.pageBytes }
        Member("links", .integer(0...)) { $0.links }
        Member("linkBytes", .integer(0...)) { $0.linkBytes }
    }

    private struct PatchRow: Sendable {
        let row: StatusReport.Row
        /// The script's digest; nil for a bundle.
        let sha256: String?
        /// The position in the signed list, from 1; nil for a bundle and for a pending script.
        let order: Int?

        static func all(of report: StatusReport) -> [PatchRow] {
            let running = report.machine.state.running?.patches.filter { $0.kind == .script } ?? []
            var pending: [InstalledPatch] = []
            if case .pending(_, let next) = report.machine.state { pending = next.patches }
            let scripts = Dictionary(running.map { ($0.patchID, $0) }) { first, _ in first }
            let next = Dictionary(pending.map { ($0.patchID, $0) }) { first, _ in first }
            let ordered = running.sorted { $0.turn < $1.turn }.enumerated().map { ($1.patchID, $0 + 1) }
            let orders = Dictionary(ordered) { first, _ in first }
            return report.rows.map { row in
                let patch = row.kind == .script ? (row.isPending ? next : scripts)[row.patchID] : nil
                return PatchRow(
                    row: row,
                    sha256: patch?.fingerprint.sha256.hex,
                    order: row.isPending || row.kind != .script ? nil : orders[row.patchID]
                )
            }
        }
    }

    private static let patch = Shape<PatchRow>.object {
        Member("patchId", .text) { $0.row.patchID.text }
        Member("kind", Shapes.kind) { $0.row.kind }
        Member("version", .text) { $0.row.version.text }
        Member("state", Shapes.patchState) { $0.row.state }
        Member("meaning", Shapes.meaning) { $0.row.state.meaning }
        Member(optional: "fault", Shapes.fault) { $0.row.fault }
        Member("pending", .flag, "Whether the version waits to replace the running one.") { $0.row.isPending }
        Member(optional: "file", Shapes.file) { $0.row.file?.string }
        Member(optional: "sha256", Shapes.sha256, "The signed digest of a script.") { $0.sha256 }
        Member(optional: "order", .integer(1...), "The place of a running script in the order in which scripts run.") {
            $0.order
        }
        Member(
            optional: "runsIn",
            .oneOf([ScriptPlace.Side.page, .both]),
            "Where the script runs; missing: in the app's own program."
        ) { $0.row.place.isInPages ? $0.row.place.side : nil }
        Member(optional: "pages", Shape.text.list, "Patterns of the pages that get the script; missing: all.") {
            $0.row.place.pages?.map(\.text)
        }
    }

    private struct BlockRow: Sendable {
        let content: PatchContent
        let block: TrialBlocks.Block
        let next: StatusReport.Retry?
    }

    private static let block = Shape<BlockRow>.object {
        Member("patchId", .text) { $0.content.patchID.text }
        Member("version", .text) { $0.block.version.text }
        Member("failures", .integer(1...)) { $0.block.failures }
        Member("until", Shapes.time) { $0.block.until }
        Member("reason", .text, "Why, in words.") { $0.block.reason.rawValue }
        Member("code", Shapes.setback, "The reason for programs.") { $0.block.reason.code }
        Member(optional: "pageError", Shapes.pageError) { $0.block.error }
        Member(
            "next",
            .oneOf(StatusReport.Retry.allCases),
            "waits: installed after `until`, or by `sync --retry-failed`; blocked: installed after `until`, or after `unblock`; "
                + "free: the next sync installs it; onTrial: it runs now; notListed: it is no longer listed."
        ) { $0.next ?? .notListed }
    }

    private struct TransferRow: Sendable {
        let content: PatchContent
        let count: TransferFailures.Count
    }

    private static let transfer = Shape<TransferRow>.object {
        Member("patchId", .text) { $0.content.patchID.text }
        Member("version", .text) { $0.count.version.text }
        Member("failures", .integer(1...)) { $0.count.failures }
        Member(optional: "until", Shapes.time) { $0.count.until }
    }

    private struct ContentRow<Row: Sendable>: Sendable {
        let content: PatchContent
        let row: Row
    }

    private static let unfit = Shape<ContentRow<UnfitRow>>.object {
        Member("patchId", .text) { $0.content.patchID.text }
        Member("version", .text) { $0.row.version.text }
        Member("platform", .text) { $0.row.platform.name }
        Member("compatibility", .text, "This device's.") { $0.row.platform.compatibility }
        Member(optional: "needs", .text, "The version's.") { $0.row.needs }
    }

    static let network = Shape<NetworkUse>.object {
        Member(
            "metered",
            .flag,
            "Whether the network is metered: then syncs download mandatory versions, and others within `allowance`."
        ) { $0.isMetered }
        Member("allowance", .integer(0...), "In bytes, for each sync.") { $0.allowance }
        Member(optional: "limitRate", .integer(1_000...), "The most bytes a second.") { $0.rate }
    }

    private static let putOff = Shape<ContentRow<DeferredRow>>.object {
        Member("patchId", .text) { $0.content.patchID.text }
        Member("version", .text) { $0.row.version.text }
        Member(optional: "bytes", .integer(0...), "The last known cost of its download; missing if unknown.") {
            $0.row.bytes
        }
    }

    private static let leaving = Shape<StatusReport.Leaving>.object {
        Member("patchId", .text) { $0.patch.patchID.text }
        Member("version", .text) { $0.patch.version.text }
        Member("named", .flag, "Whether a list withdrew this version by name; else its patch is no longer listed.") {
            $0.isNamed
        }
        Member(optional: "next", .text, "The version that replaces it.") { $0.next?.version.text }
    }

    private struct PassedRow: Sendable {
        let patchID: PatchID
        let passed: Decision.PassedOver
    }

    private static let passedOver = Shape<PassedRow>.object {
        Member("patchId", .text) { $0.patchID.text }
        Member("version", .text) { $0.passed.version.text }
        Member("code", Shapes.reason) { $0.passed.why.code }
        Member("why", .text, "In words.") { $0.passed.why.description }
    }

    static let policy = Shape<UpdatePolicy>.object {
        Member(
            "consent",
            .oneOf(Consent.allCases),
            "The versions that install without approval: all, those that close a security hole, none."
        ) { $0.consent }
        Member("postponeLimit", .integer(0...), "The longest postponement in a row, in seconds.") {
            Int($0.postponeLimit.components.seconds)
        }
        Member(
            "windows",
            Shape.text.list,
            "The hours in which new versions start: `mon-fri 02:00-04:00`; none: at any time."
        ) {
            $0.windows.windows.map(\.description)
        }
        Member("windowZone", .text, "The clock of these hours: UTC, +01:00, Europe/Berlin, local.") {
            $0.windows.zone.description
        }
    }

    private static let hold = Shape<ActivationHold>.object {
        Member(
            "code",
            .oneOf(["postponed", "window", "zoneUnreadable"]),
            "postponed: the start is postponed; window: it is outside the owner's hours; zoneUnreadable: the time zone of these hours "
                + "cannot be read, and is read again at `until`."
        ) { $0.code }
        Member("until", Shapes.time) { $0.until }
    }

    private static let postponed = Shape<Postponement>.object {
        Member("since", Shapes.time, "The time of the first request in a row.") { $0.since }
        Member("until", Shapes.time) { $0.until }
    }

    private struct SecuredRow: Sendable {
        let label: Label
        let security: SecurityAdvisory

        /// Nil for a version that does not fix a security hole.
        init?(_ version: AwaitedVersion) {
            guard let security = version.security else { return nil }
            (label, self.security) = (version.label, security)
        }
    }

    private static let secured = Shape<SecuredRow>.object {
        Member("patchId", .text) { $0.label.patchID.text }
        Member("version", .text) { $0.label.version.text }
        Member("security", Shapes.advisory) { $0.security }
    }

    private static let debug = Shape<JSON>.object {
        Member(given: "versions", Shape.anyObject.list, "As `explain` shows them.", isRequired: false)
        Member(given: "lastError", Shapes.logLine, isRequired: false)
        Member(given: "failuresInARow", Shape.integer(0...), "Failed syncs since the last successful one.")
        Member(given: "log", Shapes.logLine.list, "The last lines.")
    }
}
