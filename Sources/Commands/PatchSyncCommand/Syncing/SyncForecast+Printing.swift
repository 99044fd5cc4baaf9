import DeviceOutput
import PatchChoice
import PatchFormat
import PatchSync
import PatchTrust
import CommandKit

extension SyncForecast {
    func print(on out: Console = .standardOutput, errors: Console = .standardError) {
        if !rows.isEmpty {
            Table(
                ["PATCH", "VERSION", "HOW", "BYTES", "NOTE"],
                rows: rows.map { row in
                    [
                        .init(row.patchID.text), .init(row.version.text), .init(row.how), .init(row.cost.size.words),
                        .init(row.note),
                    ]
                }
            ).write(to: out)
        }
        printOffer(on: out, errors: errors)
        if isTrial { out.line("a trial is running: nothing new is installed before it is decided") }
        if isUnasked { out.line("a sync asks the server for its choice first, and may then install other versions") }
        warn(on: errors)
        let less = saved > 0 ? ", \(ByteText(saved)) less than as a whole" : ""
        let come =
            switch size {
            case .nothing: "nothing would be downloaded"
            case .unknown: "the download size is unknown"
            default: "\(size.words) would be downloaded\(less)"
            }
        out.line("\(come); \(ByteText(metadata)) of metadata was downloaded, and nothing was changed")
    }
}

extension WireSize {
    var words: String {
        guard let bytes else { return "unknown" }
        return (isExact ? "" : "about ") + ByteText(bytes).description
    }
}

extension TransferCost.Way {
    var words: String {
        switch self {
        case .nothing: "downloaded already"
        case .file: "its file"
        case .packs(let base, count: 1): "by a pack from \(base)"
        case .packs(let base, let count): "by \(count) packs from \(base)"
        case .wholePack: "the whole bundle's pack"
        case .packRanges: "parts of the bundle's pack"
        case .singleObjects: "file by file"
        case .open: "the files of its manifest, at most"
        }
    }
}

extension SyncForecast.Row {
    fileprivate var how: String {
        task == .keep ? "installed" : cost.way.words
    }

    fileprivate var note: String {
        switch task {
        case .take:
            guard let whole = cost.whole?.bytes, cost.saved != nil else { return "" }
            return "instead of about \(ByteText(whole))"
        case .heal: return "files of it are missing or wrong"
        case .keep: return ""
        case .putOff: return "put off while metered"
        }
    }
}
