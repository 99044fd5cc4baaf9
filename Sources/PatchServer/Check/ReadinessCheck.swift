package import PatchFormat
package import PatchStore
import PatchTrust
import SystemPackage

/// Says whether a server is ready, as often as it is asked, and verifies its trees only now and then.
///
/// One verification at a time: whoever asks meanwhile gets its answer.
package actor ReadinessCheck {
    /// How long a verification counts while no timestamp is replaced.
    package static let lifetime = Duration.seconds(5)

    private struct Known {
        let at: UTCTime
        let timestamps: [StoredFile?]
        let findings: [(app: AppID, finding: Readiness.Finding)]
    }

    private let folder: ServerFolder
    private let files: any FileOperations
    private let within: Duration
    private let space: @Sendable () -> DiskSpace?
    private let enough: DiskSpace
    private let now: @Sendable () -> UTCTime
    private var known: Known?
    /// How often the trees were verified.
    package private(set) var verifications = 0

    /// - Parameters:
    ///   - within: how long before its end a role is reported.
    ///   - enough: what must be free on the disk.
    ///   - space: what is; nil where nobody can say.
    package init(
        _ folder: ServerFolder,
        files: any FileOperations,
        within: Duration,
        enough: DiskSpace = DiskSpace(freeBytes: 0, freeFiles: 0),
        space: @escaping @Sendable () -> DiskSpace? = { nil },
        now: @escaping @Sendable () -> UTCTime
    ) {
        self.folder = folder
        self.files = files
        self.within = within
        self.enough = enough
        self.space = space
        self.now = now
    }

    /// - Throws: `file` when the folder cannot be read.
    package func answer() throws(ServerError) -> Readiness {
        let findings = try findings()
        return Readiness(findings, within: within, shortages: Shortage.of(space(), enough: enough), at: now())
    }

    /// What is left on the disk; nil where nobody can say.
    func disk() -> DiskSpace? { space() }

    /// What is known of each app; at most ``lifetime`` old.
    func findings() throws(ServerError) -> [(app: AppID, finding: Readiness.Finding)] {
        let time = now()
        let apps = try folder.allApps(files: files)
        var timestamps: [StoredFile?] = []
        for app in apps {
            timestamps.append(try folder.storage(of: app, files: files).status(of: .timestamp))
        }
        if let known, known.timestamps == timestamps, known.findings.map(\.app) == apps, known.at <= time,
            time < known.at.adding(Self.lifetime)
        {
            return known.findings
        }
        let findings = apps.map { (app: $0, finding: folder.finding(of: $0, files: files)) }
        verifications += 1
        known = Known(at: time, timestamps: timestamps, findings: findings)
        return findings
    }
}

extension ServerFolder {
    /// Whether an app's tree verifies, and until when.
    func finding(of app: AppID, files: any FileOperations) -> Readiness.Finding {
        do throws(ServerError) {
            return .verified(try PublishedState(of: try AppRepository(app, in: self, files: files)).expiries)
        } catch { return .unverified(error) }
    }
}
