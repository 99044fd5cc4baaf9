import PatchFormat

extension ReleaseDifference {
    /// One line a change, for a person who is about to sign it.
    package var words: [String] {
        var lines = changes.map(\.words)
        if changes.isEmpty { lines.append("the list is empty") }
        lines += entryKeysAdded.map { "+ entry key \($0.hex.prefix(12))…" }
        lines += entryKeysRemoved.map { "- entry key \($0.hex.prefix(12))… is no longer accepted" }
        lines += unmet.map { "! \($0) requires what is not listed; no device can newly take it" }
        return lines
    }
}

extension ReleaseDifference.Change {
    package var words: String {
        switch self {
        case .added(let entry, let files):
            let size = files.map { ", \(Words.count($0, "file"))" } ?? ", \(Words.bytes(entry.fingerprint.size))"
            return "+ \(entry.label) is new (\(entry.kind)\(size); \(entry.digest)); \(Words.rules(entry.rules))"
        case .version(let old, let new, let files):
            let detail = files.map { "; \($0.words)" } ?? ""
            return "~ \(new.patchID) goes from \(old.version) (\(old.digest)) to \(new.version) (\(new.digest)); "
                + "\(Words.rules(new.rules))\(detail)"
        case .rules(let old, let new):
            return "~ \(new.label): rules go from \(Words.rules(old.rules)) to \(Words.rules(new.rules))"
        case .requirements(let entry):
            return "~ \(entry.label): requires \(entry.requires.keys.sorted().map(\.text).joined(separator: ", "))"
        case .behind(let entry, let listed):
            return listed
                ? "+ \(entry.label) is listed again"
                : "- \(entry.label) is no longer listed; devices that run it take it back"
        case .withdrawn(let entry):
            return "- \(entry.label) is withdrawn; devices that run it take it back"
        case .unchanged(let entry):
            return "= \(entry.label) stays"
        }
    }
}

extension PatchEntry {
    fileprivate var digest: String { "sha256 \(fingerprint.sha256.hex.prefix(12))…" }
}
