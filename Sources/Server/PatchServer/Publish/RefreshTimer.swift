import PatchCrypto
package import PatchFormat
package import PatchStore
import PatchTrust
import ServiceLifecycle
package import SystemPackage

/// Periodically signs the dial, snapshot and timestamp of every app while a server runs.
///
/// The folder's lock is held only while signing. A key is read just before it signs, and is forgotten afterwards. No failure ends
/// the timer: it is reported once, and signing is tried again.
package struct RefreshTimer<C: Clock<Duration>>: Service {
    private let folder: ServerFolder
    private let files: any FileOperations
    private let allowsTestingKeys: Bool
    private let schedule: RefreshSchedule
    private let clock: C
    private let now: @Sendable () -> UTCTime
    private let key: @Sendable (FilePath) throws -> OnlineKey?
    private let observe: @Sendable (AppID?, RefreshResult) -> Void
    private let report: @Sendable (AppID?, RefreshResult) -> Void
    private let clockIsSet: (@Sendable () async throws -> Void)?

    /// - Parameters:
    ///   - clock: measures the pauses; `now` decides whether signing is due.
    ///   - key: opens an online key; nil if no passphrase was given.
    ///   - observe: called for each app in each round.
    ///   - report: called for each signing, and once for each failure until it changes; without an app if the folder itself cannot
    ///     be read.
    ///   - clockIsSet: returns once the clock was set, which ends a pause; see ``ClockStep``.
    package init(
        _ folder: ServerFolder,
        files: any FileOperations,
        allowsTestingKeys: Bool = false,
        schedule: RefreshSchedule,
        clock: C,
        now: @escaping @Sendable () -> UTCTime,
        key: @escaping @Sendable (FilePath) throws -> OnlineKey?,
        observe: @escaping @Sendable (AppID?, RefreshResult) -> Void = { _, _ in },
        report: @escaping @Sendable (AppID?, RefreshResult) -> Void,
        clockIsSet: (@Sendable () async throws -> Void)? = nil
    ) {
        self.clockIsSet = clockIsSet
        self.folder = folder
        self.files = files
        self.allowsTestingKeys = allowsTestingKeys
        self.schedule = schedule
        self.clock = clock
        self.now = now
        self.key = key
        self.observe = observe
        self.report = report
    }

    /// Runs until graceful shutdown or cancellation.
    package func run() async throws {
        var reported = ReportedResults()
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let results = round(isFirst: reported.isEmpty)
            for (app, result) in results {
                observe(app, result)
                if reported.isNew(result, of: app) { report(app, result) }
            }
            let pause = schedule.pause(after: results.map(\.result), at: now())
            do {
                try await cancelWhenGracefulShutdown { try await wait(for: pause) }
            } catch { return }
        }
    }

    private func wait(for pause: Duration) async throws {
        guard let clockIsSet else { return try await clock.sleep(for: pause) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await clock.sleep(for: pause) }
            group.addTask { try await clockIsSet() }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
    }

    private func round(isFirst: Bool) -> [(app: AppID?, result: RefreshResult)] {
        do throws(ServerError) {
            return try folder.allApps(files: files).map { ($0, refresh($0, tryingKey: isFirst)) }
        } catch { return [(nil, .failed("\(error)"))] }
    }

    /// - Parameter tryingKey: opens the key even before signing is due, so that a missing passphrase is noticed at the start.
    private func refresh(_ app: AppID, tryingKey: Bool) -> RefreshResult {
        do {
            let repository = try AppRepository(app, in: folder, files: files, allowsTestingKeys: allowsTestingKeys)
            let signedAt = try PublishedState(of: repository).timestamp.signedAt
            let isDue = schedule.isDue(signedAt: signedAt, at: now())
            let behind = ClockBehind(clock: now(), signedAt: signedAt, build: folder.build)
            if !tryingKey {
                if let behind { return .clockBehind(behind) }
                if let signedAt, !isDue { return .fresh(signedAt: signedAt) }
            }
            guard let key = try key(repository.onlineKeyFile) else { return .withoutKey }
            if let behind { return .clockBehind(behind) }
            if let signedAt, !isDue { return .fresh(signedAt: signedAt) }
            let lock = try folder.locked(files: files)
            let done = try RefreshRoles(of: repository, signing: key, at: now()).run()
            lock.release()
            return .signed(done)
        } catch ServerError.locked(.held) {
            return .locked
        } catch ServerError.clockBehind(let behind) {
            return .clockBehind(behind)
        } catch {
            return .failed("\(error)")
        }
    }
}

extension RefreshResult {
    fileprivate var clockBehind: ClockBehind? {
        if case .clockBehind(let behind) = self { behind } else { nil }
    }
}

/// The reported results, to avoid repeated reports.
private struct ReportedResults {
    private var last: [AppID?: RefreshResult] = [:]
    private var withoutKey: Set<AppID?> = []

    var isEmpty: Bool { last.isEmpty }

    mutating func isNew(_ result: RefreshResult, of app: AppID?) -> Bool {
        let before = last.updateValue(result, forKey: app)
        return switch result {
        case .signed: true
        case .failed: before != result
        case .withoutKey: withoutKey.insert(app).inserted
        case .clockBehind(let behind): before?.clockBehind?.atLeast != behind.atLeast
        // The clock is right again, and nothing had to be signed.
        case .fresh: before?.clockBehind != nil
        case .locked: false
        }
    }
}

/// When the online key signs again, and when a server checks whether that is due.
package struct RefreshSchedule: Equatable, Sendable {
    /// The pause after the lock was held by another process, which is done soon.
    private static let afterLock = Duration.seconds(5)
    /// The pause after a failure, which an operator must fix.
    private static let afterFailure = Duration.minutes(1)
    /// The longest pause: the machine may sleep, its clock may be set, or an app may be added.
    private static let longest = Duration.minutes(10)
    /// The pause while the clock is behind.
    ///
    /// A time service may step it at any moment; pauses are measured by another clock, which a step does not shorten.
    private static let whileClockBehind = Duration.seconds(2)

    /// The maximum age of a timestamp.
    package let every: Duration

    package init(every: Duration) {
        self.every = every
    }

    /// Whether a timestamp must be signed again.
    ///
    /// One without the time of its signature counts as old. ``ClockBehind`` handles one from the future.
    package func isDue(signedAt: UTCTime?, at now: UTCTime) -> Bool {
        guard let signedAt else { return true }
        return signedAt.adding(every) <= now
    }

    /// How long to wait after a round.
    package func pause(after results: [RefreshResult], at now: UTCTime) -> Duration {
        results.map { pause(after: $0, at: now) }.reduce(Self.longest, min)
    }

    private func pause(after result: RefreshResult, at now: UTCTime) -> Duration {
        switch result {
        case .fresh(let signedAt): .seconds(max(1, signedAt.adding(every).seconds - now.seconds))
        case .signed: max(.seconds(1), every)
        case .locked: Self.afterLock
        case .clockBehind: Self.whileClockBehind
        case .failed: Self.afterFailure
        case .withoutKey: Self.longest
        }
    }
}

/// The result of a round for one app.
package enum RefreshResult: Equatable, Sendable {
    /// Signing is not due yet.
    case fresh(signedAt: UTCTime)
    case signed(RefreshedVersions)
    /// Another process changes the folder.
    case locked
    /// Nothing is signed, even if due: by this clock the signatures would have expired for every device.
    case clockBehind(ClockBehind)
    case failed(String)
    /// The online key is encrypted, and no passphrase was given.
    case withoutKey
}

/// Notices that the wall clock was set, by comparing it with a monotonic clock.
package enum ClockStep {
    /// How often the clocks are compared.
    private static let interval = Duration.seconds(5)
    /// A time service corrects a clock by less than this without a step.
    private static let slack = 60

    /// Returns once the wall clock was set by more than a minute.
    ///
    /// - Throws: `CancellationError`.
    package static func wait<C: Clock<Duration>>(clock: C, now: @Sendable () -> UTCTime) async throws {
        let (began, start) = (clock.now, now())
        while true {
            try await clock.sleep(for: interval)
            let passed = Int(began.duration(to: clock.now).components.seconds)
            // Neither difference overflows: a UTCTime is a year from 0 to 9999.
            guard abs(now().seconds - start.seconds - passed) <= slack else { return }
        }
    }
}
