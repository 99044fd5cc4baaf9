import PatchChoice
import APIProxy
import ArgumentParser
import Glibc
import AssetServer
import CommandKit
import DeviceOutput
import HTTPFiles
import Linux
import PatchDaemon
import PatchFormat
import PatchStore
import PatchSync
import Patchline
import SystemPackage
import UnixSignals

struct ServeCommand: LastingCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract:
            "Serve the active bundle on loopback, and roll back a new one unless confirmed in time.",
        discussion: """
            The app keeps its port, because cookies and storage belong to it. A new
            version must be confirmed within the startup timeout, counted from its first
            visible page: the page calls window.patchline.confirm() of
            /__patchline/launch.js, or a program runs
            `patchsync confirm --launch-file FILE`. Time while this process is stopped
            does not count, nor does a launch without a visible page. A version without a
            predecessor stays.

            A staged version starts when the page calls
            window.patchline.switchToPending(), with `patchsync switch`, or at the next
            launch. A mandatory version starts at once; a version that runs at the next
            launch starts only then.

            Access needs the store's token: open the printed URL, or the one in the output
            of --json. The token is in STORE/access-token, readable by its owner only. The
            first answer turns it into a cookie; a new token revokes the cookie.

            Other users of the machine can see command lines, and some the journal.
            --url-file writes the URL into a private file instead; FILE.html is a page
            that opens the URL, to start browsers with. A systemd journal never gets the
            URL.

            Until a version is installed, a page shows the progress of the first one.

            With --scripts, the active script patches run on a sample host in another
            process (`patchscript run`), at the start and after each switch.

            \(ProxyOptions.discussion)

            EXAMPLES
              patchsync serve --store /var/lib/app
              patchsync serve --store /var/lib/app --proxy '/api/.*=https://api.example.com'
              patchsync serve --store /var/lib/app --sync-every 900
              patchsync serve --store /var/lib/app --www ~/content --uploads ~/content
              patchsync serve --store /var/lib/app --url-file ~/.app/open.html & xdg-open ~/.app/open.html
              patchsync serve --store /var/lib/app --port 0 --startup-timeout 5000 --json
            """
                + exitCodes(
                    [
                        .done: "stopped normally (SIGINT, SIGTERM)",
                        .busy: "the port is in use",
                        .interrupted: "still busy 15 seconds after SIGINT",
                        .terminated: "still busy 15 seconds after SIGTERM",
                    ],
                    usual: .disk
                )
    )

    @OptionGroup var options: StoreOptions

    @OptionGroup var serving: ServingOptions

    @Flag(
        name: .long,
        help:
            "If the port is in use, use the next free one. Pages lose cookies and storage, because the origin changes."
    )
    var nextFreePort = false

    @Flag(name: .long, help: "Run active script patches on a sample host and print their states.")
    var scripts = false

    var json: Bool { options.json }

    func run() async throws {
        try await runCommand(json: options.json, work)
    }

    private func work() async throws(Failure) {
        // Signals are trapped before anything starts, so that a stop at any time is clean.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let deadline = StopDeadline.ofServing
        defer { deadline.lift() }
        var device = try await options.opened(appBuild: serving.appBuild)
        device.atCommitPoint = CommitPoint.pullingThePlug
        try checkNames(device)
        guard let proxy = try serving.proxies.settings() else {
            return try await serve(device, delegate: nil, until: signals)
        }
        let report: @Sendable (String) -> Void = { Console.standardError.line(printable($0)) }
        do {
            try await device.proxying(proxy, report: report) { proxy in
                try await serve(device, delegate: proxy, until: signals)
            }
        } catch { throw error as? Failure ?? Failure("\(error)") }
    }

    /// Checks that the named folders exist.
    ///
    /// Otherwise they would be missing for as long as this runs, without an error.
    private func checkNames(_ device: Device) throws(Failure) {
        for (option, folder) in [
            ("--www", serving.www), ("--local-files", serving.localFiles), ("--uploads", serving.uploads),
        ] {
            guard let path = folder.map({ FilePath(argument: $0) }) else { continue }
            guard (try? device.store.files.status(of: path.followingLinks))?.kind == .directory else {
                throw Failure("\(option): \(path) is not a folder, or does not exist", code: .usage)
            }
            guard !path.followingLinks.overlaps(device.store.root.followingLinks) else {
                throw Failure(
                    "\(option): \(path) is the store, is inside it or contains it",
                    hint: "a client with the access token could read or change the store.",
                    code: .usage
                )
            }
        }
        guard let id = serving.bundle.flatMap({ PatchID($0) }), let state = try? device.state().machine.state else {
            return
        }
        let there = Set(state.kept.flatMap(\.bundleIDs)).sorted().map(\.text)
        guard there.isEmpty || there.contains(id.text) else {
            throw Failure(
                "--bundle: no bundle \(id) is installed; there is \(there.joined(separator: ", "))",
                hint: "without --bundle the first by id is served.",
                code: .usage
            )
        }
    }

    private func serve(
        _ device: Device,
        delegate: (any RequestDelegate)?,
        until signals: UnixSignalsSequence
    ) async throws(Failure) {
        let right = try servingLock(of: device.store)
        defer { withExtendedLifetime(right) {} }
        let events = LaunchEvents(options)
        let table = scripts ? try ScriptTable(of: device.store.root, events: events) : nil
        let log = StoreLogWriter(StoreLog(device.store.root), by: "serve", now: ProcessEnvironment.now)
        let (lulls, lull) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let server = LocalServer(device: device, settings: try settings(), delegate: delegate) {
            log.take($0)
            events.take($0)
            if case .synced = $0 { lull.yield() }
            if $0.changesRunningVersion { table?.run() }
        }
        if serving.open { events.isOpen() }
        let address: LocalServer.Address
        do throws(LocalServerError) { address = try await server.start() } catch {
            throw Failure(error, servers: device.store.runningServers)
        }
        let own = RunningServer(
            process: Int(getpid()),
            port: address.port,
            host: PagesHost(named: address.host)
        )
        let sign = device.store.announcing(own)
        defer { withExtendedLifetime(sign) {} }
        let file = serving.urlFile.map { URLFile($0) }
        do throws(Failure) { try file?.write(address.url) } catch {
            await server.stop()
            throw error
        }
        events.listening(address, urlIn: file?.path.string, isSecret: Journal.isStandardOutput && !serving.printURL)
        do throws(LocalServerError) { try await run(server, lulls, until: signals) } catch { throw Failure(error) }
    }

    private func run(
        _ server: LocalServer,
        _ lulls: AsyncStream<Void>,
        until signals: UnixSignalsSequence
    ) async throws(LocalServerError) {
        let result: Result<Void, LocalServerError> = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in signals { break }
                await server.stop()
            }
            group.addTask { await IdleMemory.releaseMemory(after: lulls) }
            defer { group.cancelAll() }
            do throws(LocalServerError) { return .success(try await server.waitForEnd()) } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    private func settings() throws(Failure) -> LocalServer.Settings {
        let given: StoreSettings
        do throws(ValidationError) { given = try serving.settings(of: options.path) } catch {
            throw Failure(error.message, code: .usage)
        }
        var settings = given.serving(serving.network.deadlines)
        settings.takesNextFreePort = nextFreePort
        return settings
    }
}

extension StopDeadline {
    /// Responses in progress have ten seconds.
    ///
    /// After fifteen seconds the process ends, regardless of unfinished work.
    static var ofServing: StopDeadline {
        StopDeadline([SIGINT, SIGTERM], allowing: .seconds(15)) {
            overdue
        }
    }

    static let overdue = "did not stop within 15 s of the signal: it ends with unfinished work"
}
