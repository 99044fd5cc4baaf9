import PatchCrypto
package import PatchFormat
package import PatchStore
import PatchTrust
import ServiceLifecycle
package import SystemPackage

/// Signs dial, snapshot and timestamp of every app anew, again and again, while a server runs.
///
/// The folder's lock is held for the moment of one signing alone. A key is read when it is about to sign and forgotten
/// afterwards. Nothing that goes wrong ends it: it says so once, and tries again.
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
    ///   - clock: what the pauses are measured with; whether it is time is asked of `now`.
    ///   - key: opens an online key; nil when nobody named its passphrase.
    ///   - observe: called for each app in each round.
    ///   - report: called for each signing, and for trouble once until it changes; without an app when the folder itself
    ///     cannot be read.
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

    /// Goes on until graceful shutdown or cancellation.
    package func run() async throws {
        var said = Said()
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let results = round(isFirst: said.isEmpty)
            for (app, result) in results {
                observe(app, result)
                if said.isNew(result, of: app) { report(app, result) }
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

    /// - Parameter tryingKey: opens the key even before its time, so that a missing passphrase is known at the start.
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

/// What was reported, so that nothing is said over and over.
private struct Said {
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

/// When what the online key signs is signed again, and when a server looks again whether it is time.
package struct RefreshSchedule: Equatable, Sendable {
    /// After a lock that was held: its holder is done in a moment.
    private static let afterLock = Duration.seconds(5)
    /// After a failure, which somebody has to see to.
    private static let afterFailure = Duration.minutes(1)
    /// However far away the next time is: the machine may sleep, its clock may be set, an app may be added.
    private static let longest = Duration.minutes(10)
    /// While the clock is behind.
    ///
    /// A time service steps it at any moment; waits are measured by another clock, which no step
    /// shortens.
    private static let whileClockBehind = Duration.seconds(2)

    /// How old a timestamp may become.
    package let every: Duration

    package init(every: Duration) {
        self.every = every
    }

    /// A timestamp without the time of its signature counts as old.
    ///
    /// Of one from the future ``ClockBehind`` decides.
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

/// What a round did for one app.
package enum RefreshResult: Equatable, Sendable {
    /// Nothing: it is not time yet.
    case fresh(signedAt: UTCTime)
    case signed(RefreshedVersions)
    /// Another process changes the folder.
    case locked
    /// Nothing, even if signatures are due: by this clock they would have expired for every device.
    case clockBehind(ClockBehind)
    case failed(String)
    /// The online key is encrypted, and nobody named its passphrase.
    case withoutKey
}

/// Notices that the wall clock was set, by comparing it with a monotonic clock.
package enum ClockStep {
    /// How soon that is noticed.
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
