import CommandKit
import PatchFormat

/// The release that a rollback without `--to` most likely means.
///
/// Pure: the caller reads the channel's history.
struct EarlierRelease: Equatable {
    /// A release of the history.
    struct Row: Equatable {
        let version: Int
        let listed: [Label: SHA256Digest]
        /// The versions that it withdrew.
        var withdrawn: Set<Label> = []
    }

    let version: Int
    let current: Int

    /// Chooses the newest release with another list than the current one.
    ///
    /// Nil if there is none, and if it is not certain to be meant:
    /// * A version that it listed was withdrawn since.
    /// * An older release has the current list. After a rollback, the release before is the one that was left.
    ///
    /// - Parameter rows: The newest first.
    init?(before rows: [Row]) {
        guard let current = rows.first, let place = rows.firstIndex(where: { $0.listed != current.listed }) else {
            return nil
        }
        let withdrawn = rows[..<place].reduce(into: Set<Label>()) { $0.formUnion($1.withdrawn) }
        guard withdrawn.isDisjoint(with: rows[place].listed.keys),
            !rows[place...].contains(where: { $0.listed == current.listed })
        else { return nil }
        (version, self.current) = (rows[place].version, current.version)
    }

    /// - Parameter history: The service's answer.
    init?(in history: JSON) {
        do throws(FormatError) {
            let releases = try Fields(history, of: "answer").array("releases", limit: Self.rows)
            var rows: [Row] = []
            for release in releases { rows.append(try Row(try Fields(release, of: "answer"))) }
            self.init(before: rows)
        } catch { return nil }
    }

    /// How many of the newest releases are read: the most that the service lists in one answer.
    static let rows = 500

    /// The words of the hint.
    ///
    /// - Parameter arguments: The arguments of the command without `--to`.
    func hint(after arguments: [String]) -> String {
        "release \(version) has the list before that of \(current): `\(Self.command(to: version, after: arguments))`"
    }

    /// The same command with `--to`.
    private static func command(to version: Int, after arguments: [String]) -> String {
        var words = arguments.map(shellWord)
        words.insert(contentsOf: ["--to", "\(version)"], at: (words.firstIndex(of: "rollback") ?? -1) + 1)
        return (["patchsign"] + words).joined(separator: " ")
    }
}

extension EarlierRelease.Row {
    fileprivate init(_ release: Fields) throws(FormatError) {
        version = try release.integer("roleVersion", in: 1...(1 << 53 - 1))
        var listed: [Label: SHA256Digest] = [:]
        for (index, value) in try release.array("patches", limit: Limits.patchesInList).enumerated() {
            let patch = try Fields(value, of: release.document, at: "patches[\(index)]")
            listed[try Label(patch)] = try patch.digest("sha256")
        }
        self.listed = listed
        guard release.has("withdrawn") else { return }
        for (index, value) in try release.array("withdrawn", limit: Limits.patchesInList).enumerated() {
            withdrawn.insert(try Label(try Fields(value, of: release.document, at: "withdrawn[\(index)]")))
        }
    }
}

extension Label {
    fileprivate init(_ fields: Fields) throws(FormatError) {
        self.init(patchID: try fields.name("patchId"), version: try fields.name("version"))
    }
}
