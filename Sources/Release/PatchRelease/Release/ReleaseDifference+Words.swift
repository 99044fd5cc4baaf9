import PatchFormat

extension ReleaseDifference {
    /// The maximum number of file names below a change, unless all are requested.
    package static let namesShown = 20

    /// One line per change, followed by its files, for a signer.
    ///
    /// - Parameters:
    ///   - showsAll: Whether all files are listed; else the first ``namesShown`` of each bundle and the number of others.
    ///   - option: The option that lists all files.
    package func words(showsAll: Bool, option: String = "--all") -> [String] {
        lines { [$0.words] + Self.shown($0.files, all: showsAll, option: option) }
    }

    /// One line per change.
    package var words: [String] {
        lines { [$0.words] }
    }

    /// Indented, so that a file name cannot look like a change.
    package static func shown(_ names: [String], all: Bool, option: String = "--all") -> [String] {
        let shown = all ? names : Array(names.prefix(namesShown))
        let rest = names.count - shown.count
        return shown.map { "    \($0)" }
            + (rest > 0 ? ["    … and \(Words.grouped(rest)) more: \(option) names them"] : [])
    }

    private func lines(_ each: (Change) -> [String]) -> [String] {
        var lines = changes.flatMap(each)
        if changes.isEmpty { lines.append("the list is empty") }
        lines += packages.map(\.words)
        lines += entryKeysAdded.map { "+ entry key \($0.hex.prefix(12))…" }
        lines += entryKeysRemoved.map { "- entry key \($0.hex.prefix(12))… is no longer accepted" }
        lines += unmet.map { "! \($0) requires a version that is not listed; no further device can install it" }
        return lines
    }
}

extension ReleaseDifference.Change {
    /// The added, changed and removed files of a bundle, each with its sign.
    fileprivate var files: [String] {
        switch self {
        case .added(_, let files?): files.map { "+ \($0)" }
        case .version(_, _, let files?):
            files.added.map { "+ \($0)" } + files.changed.map { "~ \($0)" } + files.removed.map { "- \($0)" }
        case .added(_, nil), .version(_, _, nil), .rules, .requirements, .security, .gateways, .behind,
            .withdrawn, .withdrawnForGood, .unlistedWithdrawn, .unchanged:
            []
        }
    }

    package var words: String {
        switch self {
        case .added(let entry, let files):
            let size = files.map { ", \(Words.count($0.count, "file"))" } ?? ", \(Words.bytes(entry.fingerprint.size))"
            return "+ \(entry.label) is new (\(entry.kind)\(size); \(entry.digest)); \(Words.rules(entry.rules))"
                + "\(entry.placeWords)\(entry.advisory)"
        case .version(let old, let new, let files):
            let detail = files.map { "; \($0.words)" } ?? ""
            return "~ \(new.patchID) goes from \(old.version) (\(old.digest)) to \(new.version) (\(new.digest)); "
                + "\(Words.rules(new.rules))\(new.placeWords)\(detail)\(new.advisory)"
        case .rules(let old, let new):
            return "~ \(new.label): rules go from \(Words.rules(old.rules)) to \(Words.rules(new.rules))"
        case .requirements(let entry):
            let required = entry.requires.keys.sorted().map(\.text).joined(separator: ", ")
            return "~ \(entry.label): requires \(required.isEmpty ? "nothing" : required)"
        case .security(_, let new):
            guard let security = new.security else { return "~ \(new.label): no longer a security version" }
            return "~ \(new.label): a security version: \(security)"
        case .gateways(let entry, let before):
            let new = entry.gateways.filter { !before.contains($0) }.map {
                "~ \(entry.patchID): \($0.system)'s own clients get it as well, once every device may install it; "
                    + "their protocol has no signatures, no expiry and the same answer for all"
            }
            let old = before.filter { !entry.gateways.contains($0) }.map {
                "~ \(entry.patchID): \($0.system)'s own clients get no more versions of it and keep theirs"
            }
            return (new + old).joined(separator: "\n")
        case .behind(let entry, let listed):
            return listed
                ? "+ \(entry.label) is listed again"
                : "- \(entry.label) is no longer listed; devices that run it move to a listed version"
        case .withdrawn(let entry):
            return "- \(entry.label) is withdrawn; devices that run it remove it"
        case .withdrawnForGood(let entry):
            return
                "- \(entry.label) is withdrawn for good; devices that run it remove it, even without another version: "
                + "they return to the version confirmed before, else to the embedded one, else to none"
        case .unlistedWithdrawn(let gone):
            return "- \(gone.label), which is not listed any more, is withdrawn for good; devices that still run it "
                + "remove it, and no later release can list it"
        case .unchanged(let entry):
            return "= \(entry.label) stays"
        }
    }
}

extension PatchEntry {
    fileprivate var placeWords: String { place.isInPages ? "; it \(place)" : "" }

    fileprivate var advisory: String { security.map { "; security: \($0)" } ?? "" }

    fileprivate var digest: String { "sha256 \(fingerprint.sha256.hex.prefix(12))…" }
}
