import PatchTrust
import DeviceOutput
import DeviceTesting
import Glibc
import NIOConcurrencyHelpers
import PageTesting
import PatchChoice
import PatchDaemon
import PatchFetch
import PatchFormat
import PatchStore
import PatchSync
import PatchTesting
import PatchCrypto
import Patchline
import SystemPackage
import CommandKit
import Testing

/// A store in a folder of its own whose server nobody runs, kept by a runner whose time and network are moved by hand.
private struct Kept {
    let clock = ManualClock()
    let root: FilePath
    let repository: SimulatedRepository
    let device: SimulatedDevice
    let runner: StoreRunner
    let pauses: AsyncStream<(Duration, AsyncStream<Never>.Continuation)>
    let network: AsyncStream<Void>.Continuation
    let reported = NIOLockedValueBox<[String]>([])

    /// - Parameter change: of the settings; a file with the store's root of trust is at the path.
    static func with(
        _ ports: PortTable = PortTable(),
        _ change: (inout StoreSettings, _ rootFile: FilePath) throws -> Void = { _, _ in },
        _ body: (Kept) async throws -> Void
    ) async throws {
        let kept = try await Kept(ports, change)
        let running = Task { await kept.runner.run() }
        let result = await Result { try await body(kept) }
        await kept.runner.stop()
        running.cancel()
        await running.value
        try? DiskFiles().removeTree(kept.root.removingLastComponent())
        try result.get()
    }

    private init(
        _ ports: PortTable,
        _ change: (inout StoreSettings, _ rootFile: FilePath) throws -> Void
    ) async throws {
        repository = SimulatedRepository(clock: clock)
        let folder = FilePath("/tmp/store-runner-tests-\(UInt64.random(in: 0...UInt64.max))")
        try DiskFiles().makeDirectory(folder)
        let (root, rootFile) = (folder.appending("store"), folder.appending("root.json"))
        self.root = root
        try DiskFiles().write(repository.root, to: rootFile)
        device = try SimulatedDevice(of: repository, clock: clock, on: DiskFiles(), at: root, isShared: true)
        repository.publish([.bundle("web", "1", ["index.html": "<p>1</p>"])])
        try await device.sync()
        try await device.launchAndConfirm()
        try await device.store.changingConfiguration { configuration throws(SyncError) in
            guard let nobody = ServerURL("http://127.0.0.1:9") else { return }
            configuration.server = nobody
        }
        let (pauses, pause) = AsyncStream.makeStream(of: (Duration, AsyncStream<Never>.Continuation).self)
        let (changes, network) = AsyncStream.makeStream(of: Void.self)
        (self.pauses, self.network) = (pauses, network)
        var environment = StoreRunner.Environment(
            open: { path throws(SyncError) in DeviceStore(root: path, files: DiskFiles(), admitting: .all) },
            now: clock.now
        ) { [reported] store, event in
            let words = if case .storeFailed(let failure) = event { "trouble: \(failure.message)" } else { "\(event)" }
            reported.withLockedValue { $0.append("\(store.name) \(words)") }
        }
        environment.sleep = { time in
            let (over, goOn) = AsyncStream.makeStream(of: Never.self)
            pause.yield((time, goOn))
            for await _ in over {}
            try Task.checkCancellation()
        }
        environment.random = { 0.5 }
        environment.networkChanges = NetworkChanges { changes }
        environment.deadlines.retries = 0
        environment.ports = ports
        var settings = StoreSettings(name: "shop", store: root)
        settings.port = 0
        try change(&settings, rootFile)
        runner = StoreRunner(settings, in: environment)
    }

    /// Published, and here, but not started.
    func stage(_ version: String, _ rules: PatchRules = .everyone) async throws {
        repository.publish([.bundle("web", version, ["index.html": "<p>\(version)</p>"], rules: rules)])
        try await device.sync()
    }

    /// What was told so far, with these words in it.
    func reported(_ words: String) -> [String] { reported.withLockedValue { $0.filter { $0.contains(words) } } }

    /// Waits until something with these words was told.
    func hears(_ words: String) async throws {
        while reported(words).isEmpty { try await Task.sleep(for: .milliseconds(2)) }
    }

    static func origin(_ server: String, _ root: FilePath, _ channel: String? = nil) throws -> StoreSettings.Origin {
        StoreSettings.Origin(
            server: try #require(ServerURL(server)),
            root: root,
            channel: try channel.map { try #require(ChannelName($0)) }
        )
    }

    var running: String? {
        get throws { try runner.device().state().machine.state.running?.patches.first?.version.text }
    }
}

@Suite("A store that the daemon keeps", .serialized, .timeLimit(.minutes(10)))
struct StoreRunnerTests {
    @Test func `is asked for at its interval, backs off, and is asked for again when the network comes back`()
        async throws
    {
        try await Kept.with { kept in
            var pauses = kept.pauses.makeAsyncIterator()
            let (interval, due) = try #require(await pauses.next())
            #expect(interval == .seconds(900))
            // A clock that is set after the start moves nothing.
            kept.clock.advance(by: .days(-300))
            let planned = try #require(await kept.runner.nextContact())
            #expect(planned.reason == .interval && (1...900).contains(planned.seconds))
            due.finish()
            let (first, _) = try #require(await pauses.next())
            #expect(first == .seconds(30))
            #expect(await kept.runner.nextContact()?.reason == .backOff)
            kept.network.yield()
            let (soon, now) = try #require(await pauses.next())
            #expect(soon <= .seconds(10), "it waits until ten seconds after the try")
            #expect(await kept.runner.nextContact()?.reason == .network)
            now.finish()
            let (second, _) = try #require(await pauses.next())
            #expect(second == .seconds(60))
            // Whoever asks gets the answer, and moves the next look.
            await #expect { try await kept.runner.sync(SyncRequest()) } throws: { error in
                guard case SyncError.fetch(.connection) = error else { return false }
                return true
            }
            let (third, _) = try #require(await pauses.next())
            #expect(third == .seconds(120))
            #expect(try kept.running == "1", "what is installed goes on")
        }
    }

    /// Issue 35, point 8.
    @Test func `takes another interval while its pages stay, and asks as often as that from then on`() async throws {
        try await Kept.with { kept in
            var pauses = kept.pauses.makeAsyncIterator()
            _ = await pauses.next()
            let url = try #require(await kept.runner.pages()?.url)
            let browser = try await Browser.opening(url)
            var settings = kept.runner.settings
            (settings.syncEvery, settings.startupTimeout) = (.seconds(60), .seconds(5))
            settings.device = [.keep: .number(3), .answers: .flag(false)]
            await kept.runner.adjust(to: settings)
            let (interval, _) = try #require(await pauses.next())
            #expect(interval == .seconds(60))
            #expect(try await browser.ask("/").status == 200, "the cookie of before")
            #expect(await kept.runner.pages()?.url == url && kept.reported("listening").count == 1)
            #expect(kept.reported("follows") == [#"shop follows(["keep"])"#], "what the store has already is not told")
            #expect(try kept.runner.device().configuration.keep == 3)
            await kept.runner.adjust(to: settings)
            #expect(kept.reported("follows").count == 1, "once")
        }
    }

    /// E7, J4.
    @Test(arguments: [false, true])
    func `starts what waits in the background, where a page was open, but not what waits for a launch`(
        waitsForLaunch: Bool
    ) async throws {
        try await Kept.with { kept in
            var pauses = kept.pauses.makeAsyncIterator()
            _ = await pauses.next()
            let url = try #require(await kept.runner.pages()?.url)
            #expect(
                try await Browser.opening(url).ask("/", [("Sec-Fetch-Dest", "document")]).body.hasSuffix("<p>1</p>")
            )
            try await kept.stage("2", PatchRules(runAtNextLaunch: waitsForLaunch))
            _ = try? await kept.runner.sync(SyncRequest())
            _ = await pauses.next()
            #expect(try kept.running == "1", "somebody may look at it")
            try await kept.runner.background()
            #expect(try kept.running == (waitsForLaunch ? "1" : "2"))
        }
    }

    @Test func `lets nobody else serve it, and is given up with its runner`() async throws {
        try await Kept.with { kept in
            var pauses = kept.pauses.makeAsyncIterator()
            _ = await pauses.next()
            let store = DeviceStore(root: kept.root, files: DiskFiles(), admitting: .all)
            #expect {
                _ = try store.servingLock()
            } throws: { error in
                guard case SyncError.lock(.held(_, by: let process)) = error else { return false }
                return process != nil
            }
            await kept.runner.stop()
            await #expect(throws: SyncError.notKept(nil)) { try await kept.runner.switchToPending() }
        }
    }

    /// T15.
    @Test
    func `goes on downloading while another program has its port, says so once, and serves as soon as it is free`()
        async throws
    {
        let taken = try TakenPort()
        try await Kept.with { settings, _ in
            settings.port = taken.number
            settings.syncEvery = .seconds(900)
        } _: { kept in
            try await kept.hears("trouble")
            var pauses = kept.pauses.makeAsyncIterator()
            var tries: [AsyncStream<Never>.Continuation] = []
            while tries.count < 3 {
                let (pause, over) = try #require(await pauses.next())
                // The other one is the next look at the server.
                guard pause == .seconds(5) * (1 << tries.count) else { continue }
                tries.append(over)
                if tries.count == 2 {
                    await #expect { try await kept.runner.sync(SyncRequest()) } throws: { error in
                        guard case SyncError.fetch(.connection) = error else { return false }
                        return true
                    }
                }
                if tries.count < 3 { over.finish() }
            }
            let trouble = try #require(await kept.runner.trouble())
            #expect(trouble.message.hasPrefix("port \(taken.number) is taken by process \(getpid()) ("))
            #expect(trouble.hint?.contains("`port: ") == true)
            #expect(kept.reported("is taken by").count == 1, "not at each try")
            #expect(await kept.runner.pages() == nil)
            await #expect(throws: SyncError.notKept(trouble.message)) { try await kept.runner.switchToPending() }
            #expect(try kept.running == "1")
            taken.free()
            tries[2].finish()
            try await kept.hears("listening")
            #expect(await kept.runner.trouble() == nil)
        }
    }

    @Test func `leaves a port to the other store of the daemon that has it`() async throws {
        let ports = PortTable()
        #expect(ports.claim(12_095, for: "beta") == nil)
        try await Kept.with(ports) { settings, _ in
            settings.port = 12_095
        } _: { kept in
            try await kept.hears("is taken by")
            let trouble = try #require(await kept.runner.trouble())
            #expect(trouble.message == "port 12095 is taken by the store beta")
        }
    }

    /// T8: trust does not depend on either.
    @Test func `follows the server and the channel of the settings, asks at once, and says what changed`() async throws
    {
        try await Kept.with { settings, file in
            settings.origin = try Kept.origin("http://127.0.0.1:19", file, "beta")
        } _: { kept in
            try await kept.hears("follows")
            #expect(
                kept.reported("follows") == [
                    #"shop follows(["server http://127.0.0.1:19, before http://127.0.0.1:9", "channel beta, before production"])"#
                ]
            )
            let configuration = try kept.runner.device().configuration
            #expect(configuration.server.text == "http://127.0.0.1:19" && configuration.channel.text == "beta")
            try await kept.hears("synced(")
            #expect(try kept.running == "1", "what proved itself goes on in the other channel")
            #expect(kept.reported("differs").isEmpty && kept.reported("made").isEmpty)
        }
        try await Kept.with { settings, file in
            // What it has already.
            settings.origin = try Kept.origin("http://127.0.0.1:9", file)
        } _: { kept in
            try await kept.hears("listening")
            #expect(kept.reported("follows").isEmpty)
            #expect(try kept.runner.device().configuration.channel.text == "production")
        }
    }

    @Test func `keeps its own root, server and channel where the settings name another root`() async throws {
        try await Kept.with { settings, file in
            let other = SimulatedRepository(clock: ManualClock())
            let there = file.removingLastComponent().appending("other.json")
            try DiskFiles().write(other.root, to: there)
            settings.origin = try Kept.origin("http://127.0.0.1:19", there, "beta")
        } _: { kept in
            try await kept.hears("listening")
            #expect(kept.reported("differs") == [#"shop differs(["root of trust (another one of version 1)"])"#])
            let configuration = try kept.runner.device().configuration
            #expect(configuration.server.text == "http://127.0.0.1:9" && configuration.channel.text == "production")
        }
    }

    /// T25.
    @Test func `makes its store again when the folder is removed, and blames nothing else`() async throws {
        try await Kept.with { settings, file in
            settings.origin = try Kept.origin("http://127.0.0.1:9", file)
        } _: { kept in
            try await kept.hears("listening")
            let before = try kept.runner.device().configuration.host
            try DiskFiles().removeTree(kept.root)
            try await kept.hears("removed")
            var pauses = kept.pauses.makeAsyncIterator()
            while let (pause, over) = await pauses.next() {
                guard pause == .seconds(1) else { continue }
                #expect(kept.reported("made").isEmpty, "whoever removes it may not be done")
                over.finish()
                break
            }
            try await kept.hears("made")
            while kept.reported("listening").count < 2 { try await Task.sleep(for: .milliseconds(2)) }
            #expect(kept.reported("removed") == ["shop removed"])
            #expect(kept.reported("inotify").isEmpty && kept.reported("is not a Patchline store").isEmpty)
            let after = try kept.runner.device().configuration
            #expect(after.host != nil && after.host != before)
            #expect(try kept.running == nil)
            let store = DeviceStore(root: kept.root, files: DiskFiles(), admitting: .all)
            #expect(throws: SyncError.self, "its lock is one of the new folder") { _ = try store.servingLock() }
        }
    }
}

/// A port of loopback on which this process listens.
private final class TakenPort {
    let number: Int
    private var descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, length) == 0 && listen(descriptor, 1) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        number = Int(UInt16(bigEndian: address.sin_port))
        try #require(isBound)
    }

    func free() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    deinit { free() }
}
