import ArgumentParser
import CommandKit
import DeviceOutput
import PatchFetch
import PatchFormat
import PatchSync
import Patchline

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Download, verify and stage the channel's versions. The active ones keep running.",
        discussion: """
            A new version starts at the next launch or with `patchsync switch`, unless its
            rules differ: a running `patchsync serve` switches to a mandatory version at
            once, and a version that runs at the next launch starts only then. Missing or
            altered files in the store are downloaded again.

            After an interruption of any kind, the next sync resumes at the byte. While another
            process syncs this store, such as `patchsync serve`, this one waits for a minute at
            most, and then looks for anything newer.

            On a metered device (`patchsync set --metered`, or --metered for one run),
            only mandatory versions, those they require, and versions within the rest of
            --allowance are downloaded. Others are deferred and listed. Metadata and lists
            are always downloaded.

            On a device that asks (`patchsync set --consent`), a version that waits for
            approval is not downloaded.

            With --dry-run, metadata is downloaded, verified and stored as usual. Nothing
            else is downloaded, staged or recorded, and no place is taken at the server.

            EXAMPLES
              patchsync sync --store /var/lib/app
              patchsync sync --store /var/lib/app --retry-failed
              patchsync sync --store /var/lib/app --retries 0 --stall-timeout 5 --deadline 60
              patchsync sync --store /var/lib/app --limit-rate 500kB
              patchsync sync --store /var/lib/app --dry-run
              patchsync sync --store /var/lib/app --metered --allowance 20kB
            """
                + exitCodes(
                    [
                        .done: "everything is as listed",
                        .refused: "refused, or the server has been behind for a day",
                        .busy: "another sync of this store did not end within a minute, or --no-wait was given",
                        .partial: "some patches failed",
                        .interrupted: "stopped by SIGINT or SIGTERM",
                    ],
                    usual: .network,
                    .disk
                )
    )

    @OptionGroup var options: StoreOptions

    @Flag(name: .long, help: "Show the downloads and their bytes, but download only metadata.")
    var dryRun = false

    @Flag(name: .long, help: "Approve all versions that this sync finds, on a device that asks.")
    var approve = false

    @Flag(
        name: .long,
        help: "Retry versions that wait after a failed trial or failed transfers. Blocked ones need `unblock`."
    )
    var retryFailed = false

    @Flag(name: .long, help: "Fail at once while another process syncs this store.")
    var noWait = false

    @Option(name: .long, help: "Set the version of the app's native part from now on.")
    var appVersion: String?

    @OptionGroup var build: AppBuildOption

    @OptionGroup(title: "Network") var network: NetworkOptions

    @OptionGroup(title: "Metered") var metered: MeteredOptions

    func validate() throws {
        if let appVersion, AppVersion(appVersion) == nil { throw ValidationError("--app-version \(AppVersion.rule)") }
        if metered.metered == false, metered.allowance != nil {
            throw ValidationError("--allowance is for a metered network: leave out one of it and --no-metered")
        }
        if dryRun, build.appBuild != nil {
            throw ValidationError("--dry-run changes nothing, and --app-build would start over: give one of them")
        }
    }

    func run() async throws {
        let code = try await runCommand(json: options.json, work)
        if code != .done { throw code.asError }
    }

    private func work() async throws(Failure) -> ResultCode {
        HTTPFetcher.useOneEventLoop()
        if dryRun { return try await look() }
        let device = try await options.opened(appBuild: build.appBuild)
        let transcript = SyncTranscript(options.json ? nil : .standardError)
        let log = StoreLogWriter(StoreLog(device.store.root), by: "sync", now: ProcessEnvironment.now)
        let report = try await logging(to: log, device) { () throws(SyncError) in
            try await syncing(device.store, transcript) { () throws(SyncError) in
                var configuration = try await device.store.changingConfiguration { configuration throws(SyncError) in
                    if let version = appVersion.flatMap({ AppVersion($0) }) { configuration.appVersion = version }
                }
                metered.apply(toRun: &configuration.network)
                let deadlines = network.deadlines.using(configuration.network)
                return try await HTTPFetcher.with(serversOf: configuration, deadlines) {
                    [configuration] sources throws(SyncError) in
                    var engine = SyncEngine(
                        store: device.store,
                        configuration: configuration,
                        sources: sources,
                        now: ProcessEnvironment.now
                    )
                    engine.deadlines = deadlines
                    engine.retryNow = retryFailed
                    engine.approvesAll = approve
                    engine.report = {
                        transcript.take($0)
                        log.take(.syncing($0))
                    }
                    engine.atCommitPoint = CommitPoint.pullingThePlug
                    return try await untilInterrupted { [engine] () async throws(SyncError) in try await engine.sync() }
                }
            }
        }
        transcript.finish()
        if options.json {
            // The sync is over. A script that cannot be read now does not change its result.
            Console.standardOutput.line(report.json((try? device.reopened().scripts()) ?? []).line)
        } else {
            report.print()
        }
        return report.code
    }

    /// How long a sync waits for another one of its store.
    static let patience = Duration.seconds(60)

    /// Runs `body` as the only sync of the store, after another one that is running.
    private func syncing<Outcome>(
        _ store: DeviceStore,
        _ transcript: SyncTranscript,
        _ body: () async throws(SyncError) -> Outcome
    ) async throws(SyncError) -> Outcome {
        try await store.syncing(
            waitingUpTo: noWait ? .zero : Self.patience,
            whenHeld: { transcript.wait(for: $0, upTo: Self.patience) },
            body
        )
    }

    /// Runs the sync, and logs its outcome.
    private func logging(
        to log: StoreLogWriter,
        _ device: Device,
        _ sync: () async throws(SyncError) -> SyncReport
    ) async throws(Failure) -> SyncReport {
        do throws(SyncError) {
            let report = try await device.store.notingFailure(at: ProcessEnvironment.now, sync)
            log.take(.synced(.success(report)))
            return report
        } catch {
            // Another process syncs, and reports the outcome.
            if error.code != .busy { log.take(.synced(.failure(error))) }
            throw Failure(error)
        }
    }

    /// Shows the work of a sync.
    ///
    /// The store is opened without adapting it to another build or machine.
    private func look() async throws(Failure) -> ResultCode {
        let device = try options.device
        let transcript = SyncTranscript(options.json ? nil : .standardError)
        let forecast = try await reporting { () throws(SyncError) in
            try await syncing(device.store, transcript) { () throws(SyncError) in
                var configuration = try device.store.configuration()
                if let version = appVersion.flatMap({ AppVersion($0) }) { configuration.appVersion = version }
                metered.apply(toRun: &configuration.network)
                let deadlines = network.deadlines.using(configuration.network)
                return try await HTTPFetcher.with(serversOf: configuration, deadlines) {
                    [configuration] sources throws(SyncError) in
                    var engine = SyncEngine(
                        store: device.store,
                        configuration: configuration,
                        sources: sources,
                        now: ProcessEnvironment.now
                    )
                    engine.deadlines = deadlines
                    engine.retryNow = retryFailed
                    engine.approvesAll = approve
                    engine.report = { transcript.take($0) }
                    return try await untilInterrupted { [engine] () async throws(SyncError) in
                        try await engine.forecast()
                    }
                }
            }
        }
        if options.json {
            Console.standardOutput.line(forecast.json.line)
        } else {
            forecast.print()
        }
        return forecast.code
    }
}

extension CommitPoint {
    /// In debug builds, `PATCHSYNC_DIE_AT=after-objects` ends the process there as a power cut would.
    @Sendable static func pullingThePlug(_ point: CommitPoint) {
        #if DEBUG
        if ProcessEnvironment.environment("PATCHSYNC_DIE_AT") == point.rawValue { ProcessEnd.kill() }
        #endif
    }
}
