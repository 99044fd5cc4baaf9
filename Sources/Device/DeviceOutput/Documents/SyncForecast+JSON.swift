import PatchChoice
package import PatchFormat
package import PatchSync

extension SyncForecast {
    /// As of the sync: 3 when something is refused, or the server has been behind for a day; 6 when a version does not fit on the
    /// disk; else 0, whether there is something new or not.
    package var code: ResultCode {
        guard refused.isEmpty && republished.isEmpty && staleMirror?.isOverdue != true else { return .refused }
        return noRoom.isEmpty ? .done : .disk
    }

    private var republished: [Decision.PassedOver] {
        decisions.flatMap { $0.passedOver.filter { $0.why == .republished } }
    }

    /// As `patchsync sync --dry-run --json` has it.
    package var json: JSON {
        .fields(
            [
                ("roleVersion", .integer(roleVersion)), ("metadata", .integer(metadata)),
                ("bytes", size.bytes.map { .integer($0) }), ("exact", .bool(size.isExact)),
                ("saved", .integer(saved)), ("patches", .array(rows.map(\.json))),
                ("putOff", putOff.isEmpty ? nil : .array(putOff.map(\.json))),
                ("noRoom", noRoom.json),
                ("trial", isTrial ? .bool(true) : nil), ("unasked", isUnasked ? .bool(true) : nil),
                ("refused", refusedJSON),
            ] + offerMembers
        )
    }
}

extension TransferCost.Way {
    /// As programs tell them apart.
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

extension SyncForecast.Row {
    fileprivate var json: JSON {
        let packs = cost.way.packs
        return .fields([
            ("patchId", .text(patchID.text)), ("kind", .text(kind.rawValue)), ("version", .text(version.text)),
            ("installed", current.map { .text($0.text) }), ("task", .text(task.rawValue)),
            ("way", .text(cost.way.code)),
            ("from", packs.map { .text($0.from.text) }), ("packs", packs.map { .integer($0.count) }),
            ("bytes", cost.size.bytes.map { .integer($0) }), ("exact", .bool(cost.size.isExact)),
            ("whole", cost.whole?.bytes.map { .integer($0) }), ("saved", cost.saved.map { .integer($0) }),
        ])
    }
}
