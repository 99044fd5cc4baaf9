package import PatchFormat

/// The version that a folder without `release.yaml` is released as.
///
/// Pure: the project's own versions and the published ones are read before.
package struct NextVersion: Equatable, Sendable {
    package enum Source: Equatable, Sendable {
        /// `version` of the nearest package.json.
        case packageFile
        /// `git describe --tags`, without the `v` in front.
        case git
        /// The day and the minute of the release: `2026.1128.935`.
        case date
        /// The content is published already, under this version.
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

    /// The first of the project's versions that is not published yet, or a date that is higher than every published one.
    ///
    /// - Parameter published: the versions that the release before lists or withdraws.
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
        // The minute, because a version that was rolled back is published and not listed: a count would give its number again.
        let now = DateVersion(year: parts[0], day: parts[1] * 100 + parts[2], number: parts[3] * 100 + parts[4])
        // A later date is from a machine whose clock is ahead. Counting on from it keeps the versions increasing.
        let last = published.compactMap(DateVersion.init).max()
        let next = last.map { $0 < now ? now : DateVersion(year: $0.year, day: $0.day, number: $0.number + 1) } ?? now
        guard let version = VersionLabel("\(next.year).\(next.day).\(next.number)") else {
            preconditionFailure("three numbers and two dots are a version")
        }
        return version
    }
}

/// `2026.1128.935`: the year, the month and the day, and a number within the day.
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

/// The versions that a project gives itself, where it does.
package struct ProjectVersions: Equatable, Sendable {
    package let packageFile: String?
    package let git: String?

    package init(packageFile: String?, git: String?) {
        (self.packageFile, self.git) = (packageFile, git)
    }
}
