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
        abstract: "Fetch, verify and stage what the channel offers. What runs is not touched.",
        discussion: """
            A new version waits for the next launch or for `patchsync switch`, unless its rules say otherwise: a mandatory
            one is switched to by a running `patchsync serve`, one that runs at the next launch waits for that alone. Files that are missing or altered in the store
            are fetched again.

            Stopped at any moment, by SIGINT, SIGTERM or worse, the next sync goes on at the byte.

            While a device is metered (`patchsync set --metered`, or --metered for one run) only what is mandatory is fetched, with
            what it requires, and what costs no more than is left of --allowance; all else is put off, and said. Metadata
            and lists always travel.

            On a device that asks (`patchsync set --consent`) nothing is fetched of a version that waits for approval.

            --dry-run says what a sync would fetch, how, and how many bytes that costs. Metadata is fetched, verified and kept
            as ever; nothing else is fetched, staged or written down, and no place is taken at the server.

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
                        .busy: "another sync runs",
                        .partial: "some patches failed",
                        .interrupted: "stopped by SIGINT or SIGTERM",
                    ],
                    usual: .network,
                    .disk
                )
    )

    @OptionGroup var options: StoreOptions

    @Flag(name: .long, help: "Say what would be fetched and what it costs, and fetch nothing but metadata.")
    var dryRun = false

    @Flag(name: .long, help: "Approve of whatever this sync finds, on a device that asks.")
    var approve = false

    @Flag(
        name: .long,
        help: "Take versions again that wait after a failed trial or failed transfers; blocked ones need `unblock`."
    )
    var retryFailed = false

    @Option(name: .long, help: "From now on this is the version of the app's native part.")
    var appVersion: String?

    @OptionGroup var build: AppBuildOption

    @OptionGroup var network: NetworkOptions

    @OptionGroup var metered: MeteredOptions

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
            try await device.store.syncing { () throws(SyncError) in
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
            try await device.store.syncing { () throws(SyncError) in
                var configuration = device.configuration
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
