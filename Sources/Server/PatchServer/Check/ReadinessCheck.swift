package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

/// Reports whether a server is ready, at any rate of requests.
///
/// It verifies the trees only now and then. One verification runs at a time: concurrent requests receive its result.
package actor ReadinessCheck {
    /// How long a verification counts while no timestamp is replaced.
    package static let lifetime = Duration.seconds(5)

    fileprivate struct Known {
        let at: UTCTime
        let timestamps: [StoredFile?]
        let findings: [(app: AppID, finding: Readiness.Finding)]
        let locked: Set<AppID>
        /// When the newest timestamp of each app was signed, as stated in it.
        let signedAt: [AppID: UTCTime]
    }

    private let folder: ServerFolder
    private let files: any FileOperations
    private let within: Duration
    private let space: @Sendable () -> DiskSpace?
    private let enough: DiskSpace
    private let now: @Sendable () -> UTCTime
    private let opens: @Sendable (_ file: [UInt8], _ path: FilePath) -> Bool
    private var known: Known?
    /// Keys that were opened, by the bytes of their files: opening one is slow on purpose.
    private var opened: [AppID: SHA256Digest] = [:]
    /// How often the trees were verified.
    package private(set) var verifications = 0

    /// - Parameters:
    ///   - within: how long before its expiry a role is reported.
    ///   - enough: the least free resources of the disk.
    ///   - space: the free resources; nil when unknown.
    ///   - opens: whether the server can sign with an online key; true if it is not expected to.
    package init(
        _ folder: ServerFolder,
        files: any FileOperations,
        within: Duration,
        enough: DiskSpace = DiskSpace(freeBytes: 0, freeFiles: 0),
        space: @escaping @Sendable () -> DiskSpace? = { nil },
        now: @escaping @Sendable () -> UTCTime,
        opens: @escaping @Sendable (_ file: [UInt8], _ path: FilePath) -> Bool = { _, _ in true }
    ) {
        self.folder = folder
        self.files = files
        self.within = within
        self.enough = enough
        self.space = space
        self.now = now
        self.opens = opens
    }

    /// - Throws: `file` when the folder cannot be read.
    package func answer() throws(ServerError) -> Readiness {
        let known = try look()
        let short = LowResource.of(space(), enough: enough)
        let time = now()
        return Readiness(
            known.findings,
            within: within,
            lowResources: short,
            locked: known.locked,
            behind: known.behind(at: time, build: folder.build),
            at: time
        )
    }

    /// The free resources of the disk; nil when unknown.
    func disk() -> DiskSpace? { space() }

    /// The findings on each app, at most ``lifetime`` old.
    func findings() throws(ServerError) -> [(app: AppID, finding: Readiness.Finding)] { try look().findings }

    private func look() throws(ServerError) -> Known {
        let time = now()
        // Includes apps that lost their timestamps; other commands do not treat those as apps.
        let apps = try folder.givenApps(files: files)
        var timestamps: [StoredFile?] = []
        for app in apps {
            timestamps.append(try folder.storage(of: app, files: files).status(of: .timestamp))
        }
        if let known, known.timestamps == timestamps, known.findings.map(\.app) == apps, known.at <= time,
            time < known.at.adding(Self.lifetime)
        {
            return known
        }
        var signedAt: [AppID: UTCTime] = [:]
        let findings = apps.map { (app: $0, finding: folder.finding(of: $0, files: files, signedAt: &signedAt[$0])) }
        verifications += 1
        let locked = apps.filter { !canOpen($0) }
        let found = Known(
            at: time,
            timestamps: timestamps,
            findings: findings,
            locked: Set(locked),
            signedAt: signedAt
        )
        known = found
        return found
    }

    /// A missing key counts as openable, as a passphrase would not help: other findings report its loss.
    private func canOpen(_ app: AppID) -> Bool {
        let path = folder.onlineKey(of: app)
        guard let file = try? files.read(path, limit: Limits.keyFile) else { return true }
        let digest = SHA256Digest(of: file)
        guard opened[app] != digest else { return true }
        guard opens(file, path) else { return false }
        opened[app] = digest
        return true
    }
}

extension ReadinessCheck.Known {
    fileprivate func behind(at clock: UTCTime, build: UTCTime) -> [AppID: ClockBehind] {
        let apps = findings.compactMap { app, _ in
            ClockBehind(clock: clock, signedAt: signedAt[app], build: build).map { (app, $0) }
        }
        return Dictionary(apps) { first, _ in first }
    }
}

extension ServerFolder {
    /// Whether an app's tree verifies, and when its roles expire.
    ///
    /// - Parameter signedAt: Set to the time of the timestamp's signature, if it has one.
    func finding(of app: AppID, files: any FileOperations, signedAt: inout UTCTime?) -> Readiness.Finding {
        do throws(ServerError) {
            let state = try PublishedState(of: AppRepository(suspecting: app, in: self, files: files))
            signedAt = state.timestamp.signedAt
            return .verified(state.expiries)
        } catch { return .unverified(error) }
    }
}
