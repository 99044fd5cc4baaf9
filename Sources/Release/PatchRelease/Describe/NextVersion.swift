package import PatchFormat

/// The version under which a folder without `release.yaml` is released.
///
/// Pure: the caller reads the project's own versions and the published ones.
package struct NextVersion: Equatable, Sendable {
    package enum Source: Equatable, Sendable {
        /// `version` in the nearest package.json.
        case packageFile
        /// `git describe --tags`, without a leading `v`.
        case git
        /// The date and time of the release: `2026.1128.935`.
        case date
        /// The version under which the same content is published already.
        case published

        package var words: String {
            switch self {
            case .packageFile: "from package.json"
            case .git: "from git describe"
            case .date: "from the date"
            case .published: "published already, with the same content"
            }
        }
    }

    package let version: VersionLabel
    package let source: Source

    package init(_ version: VersionLabel, _ source: Source) {
        (self.version, self.source) = (version, source)
    }

    /// Chooses the first of the project's versions that is not published yet, or else a date version above all published ones.
    ///
    /// - Parameter published: The versions that the previous release lists or withdraws.
    package init(of project: ProjectVersions, at time: UTCTime, published: Set<String>) {
        let own: [(String?, Source)] = [(project.packageFile, .packageFile), (project.git, .git)]
        for (text, source) in own {
            guard let text, let version = VersionLabel(text), !published.contains(text) else { continue }
            self.init(version, source)
            return
        }
        self.init(Self.date(time, above: published), .date)
    }

    private static func date(_ time: UTCTime, above published: Set<String>) -> VersionLabel {
        let parts = time.description.split { !$0.isNumber }.compactMap { Int($0) }
        // The time of day, not a counter: after a rollback the latest version is published but not listed, so a counter could
        // repeat it.
        let now = DateVersion(year: parts[0], day: parts[1] * 100 + parts[2], number: parts[3] * 100 + parts[4])
        // A later date was created by a machine with a fast clock. Incrementing it keeps the versions in order.
        let last = published.compactMap(DateVersion.init).max()
        let next = last.map { $0 < now ? now : DateVersion(year: $0.year, day: $0.day, number: $0.number + 1) } ?? now
        guard let version = VersionLabel("\(next.year).\(next.day).\(next.number)") else {
            preconditionFailure("three numbers and two dots are a version")
        }
        return version
    }
}

/// `2026.1128.935`: the year, month and day, and a number within the day.
private struct DateVersion: Comparable {
    let year: Int
    let day: Int
    let number: Int

    init(year: Int, day: Int, number: Int) {
        (self.year, self.day, self.number) = (year, day, number)
    }

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }
        guard parts.count == 3, numbers.count == 3, (1_970...9_999).contains(numbers[0]),
            (101...1_231).contains(numbers[1]), (0..<1_000_000).contains(numbers[2])
        else { return nil }
        (year, day, number) = (numbers[0], numbers[1], numbers[2])
    }

    static func < (left: DateVersion, right: DateVersion) -> Bool {
        (left.year, left.day, left.number) < (right.year, right.day, right.number)
    }
}

/// The versions that a project states for itself, if any.
package struct ProjectVersions: Equatable, Sendable {
    package let packageFile: String?
    package let git: String?

    package init(packageFile: String?, git: String?) {
        (self.packageFile, self.git) = (packageFile, git)
    }
}
