import PatchChoice
package import PatchFormat
package import PatchSync

extension SyncForecast {
    /// The exit code, as of a sync.
    ///
    /// 3 if an entry is rejected, or if the server has been outdated for a day. 6 if a version does not fit on the disk. Otherwise
    /// 0, even if there are new versions.
    package var code: ResultCode {
        guard refused.isEmpty && republished.isEmpty && staleMirror?.isOverdue != true else { return .refused }
        return noRoom.isEmpty ? .done : .disk
    }

    private var republished: [Decision.PassedOver] {
        decisions.flatMap { $0.passedOver.filter { $0.why == .republished } }
    }

    package var json: JSON { Self.document.json(self) }

    private static let offer = OfferMembers<SyncForecast>()

    /// The document of `patchsync sync --dry-run --json`.
    package static let document = Document<SyncForecast>(
        "dry-run",
        title: "patchsync sync --dry-run --json",
        "The versions that a sync would download, and their cost; one document, also with the exit codes 3 and 6. Only metadata was "
            + "downloaded, and nothing else was changed. Members may be added."
    ) {
        offer.roleVersion
        Member("metadata", .integer(0...), "The downloaded bytes of metadata, list and pack indexes.") { $0.metadata }
        Member(optional: "bytes", .integer(0...), "The bytes of all patches together; missing if one is unknown.") {
            $0.size.bytes
        }
        Member("exact", .flag, "Whether servers stated `bytes`; else it is an estimate.") { $0.size.isExact }
        Member("saved", .integer(0...), "The estimated bytes that installed files save.") { $0.saved }
        Member("patches", row.list, "The versions that a sync would stage or heal.") { $0.rows }
        offer.putOff
        offer.noRoom
        Member(optional: "trial", .mark, "A trial runs: nothing new is installed before it is decided.") {
            $0.isTrial ? () : nil
        }
        Member(
            optional: "unasked",
            .mark,
            "A sync would first ask the server for a place or a choice, and may install other versions."
        ) { $0.isUnasked ? () : nil }
        offer.refused
        offer.decisions
        offer.keptEmbedded
        offer.ignoredAnswers
        offer.mirrors
        offer.staleMirror
    }

    private static let row = Shape<Row>.object {
        Member("patchId", .text) { $0.patchID.text }
        Member("kind", Shapes.kind) { $0.kind }
        Member("version", .text, "The version after the sync.") { $0.version.text }
        Member(optional: "installed", .text, "The version before the sync.") { $0.current?.text }
        Member(
            "task",
            .oneOf([Task.take, .heal, .keep, .putOff]),
            "take: the version is new here; heal: files of it are missing or altered; keep: there is nothing to do; putOff: it waits for "
                + "an unmetered network, and is not counted."
        ) { $0.task }
        Member(
            "way",
            .oneOf(["none", "file", "packs", "whole", "parts", "objects", "open"]),
            "none: nothing is missing; file: the text of a script; packs: from an installed version; whole: the pack of the whole bundle, "
                + "or the rest of it; parts: the parts of that pack that contain the missing files; objects: the missing files, one by "
                + "one; open: its manifest, which names the missing files."
        ) { $0.cost.way.code }
        Member(optional: "from", .text, "The installed version from which the packs start.") {
            $0.cost.way.packs?.from.text
        }
        Member(
            optional: "packs",
            .integer(1...),
            "The number of packs in a row: the second starts from the result of the first."
        ) { $0.cost.way.packs?.count }
        Member(optional: "bytes", .integer(0...), "The bytes of its download; missing if unknown.") {
            $0.cost.size.bytes
        }
        Member("exact", .flag, "Whether a server stated `bytes`; else they are an estimate, or the most with `open`.") {
            $0.cost.size.isExact
        }
        Member(optional: "whole", .integer(0...), "The estimated bytes of a full download.") { $0.cost.whole?.bytes }
        Member(optional: "saved", .integer(0...)) { $0.cost.saved }
    }
}

extension TransferCost.Way {
    /// The code for programs.
    fileprivate var code: String {
        switch self {
        case .nothing: "none"
        case .file: "file"
        case .packs: "packs"
        case .wholePack: "whole"
        case .packRanges: "parts"
        case .singleObjects: "objects"
        case .open: "open"
        }
    }

    fileprivate var packs: (from: VersionLabel, count: Int)? {
        if case .packs(let base, let count) = self { (base, count) } else { nil }
    }
}
