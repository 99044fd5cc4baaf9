import PatchChoice
import PatchFormat
import PatchSync
import CommandKit

extension NetworkUse {
    /// The limits in words, or nil if the network may be used without limits.
    var words: String? {
        let rate = rate.map { "at most \(ByteText($0)) a second" }
        guard isMetered else { return rate }
        let what =
            allowance == 0
            ? "only mandatory versions are downloaded"
            : "mandatory versions are downloaded, and \(ByteText(allowance)) a sync"
        return "metered: \(what)" + (rate.map { "; \($0)" } ?? "")
    }
}

extension MeteredWait {
    /// - Parameter label: The version that waits.
    func words(_ label: Label) -> String {
        let all = label.description + together.map { " and \($0)" }.joined()
        guard let cost else { return "put off while metered: the download size of \(all) is unknown" }
        let verb = together.isEmpty ? "costs" : "cost"
        return "put off while metered: \(all) \(verb) \(ByteText(cost)), allowance \(ByteText(left))"
    }
}

extension DeferredVersion {
    var words: String { wait.words(label) }
}

extension DeferredVersions {
    var words: [String] {
        rows.sorted { $0.key < $1.key }.map { content, row in
            let cost = row.bytes.map { "it costs \(ByteText($0)), as last known" } ?? "its download size is unknown"
            return "\(content.patchID) \(row.version): waits for a network that is not metered; \(cost)"
        }
    }
}
