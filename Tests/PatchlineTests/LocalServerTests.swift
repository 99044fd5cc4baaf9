import PatchChoice
import AssetServer
import DeviceTesting
import Foundation
import Glibc
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import PatchFormat
import PatchStore
import PatchSync
import PatchTesting
import Patchline
import SystemPackage
import PageTesting
import Testing

/// A device in a folder of its own, whose pages are served on a real port.
private struct Served {
    let clock = ManualClock()
    let repository: SimulatedRepository
    let root: FilePath
    let device: SimulatedDevice

    /// Runs `body` with a new device and removes it.
    static func with(_ body: (Served) async throws -> Void) async throws {
        let served = try Served()
        do { try await body(served) } catch {
            try? DiskFiles().removeTree(served.root)
            throw error
        }
        try DiskFiles().removeTree(served.root)
    }

    private init() throws {
        repository = SimulatedRepository(clock: clock)
        root = FilePath("/tmp/localserver-tests-\(UInt64.random(in: 0...UInt64.max))")
        device = try SimulatedDevice(of: repository, clock: clock, on: DiskFiles(), at: root, isShared: true)
    }

    func publish(_ version: String) {
        repository.publish([.bundle("web", version, ["index.html": "<p>\(version)</p>", "main.js": "\(version)"])])
    }

    /// What is published runs, and is confirmed.
    func install() async throws {
        try await device.sync()
        try await device.launchAndConfirm()
    }

    func server(_ change: (inout LocalServer.Settings) -> Void = { _ in }) -> LocalServer {
        var settings = LocalServer.Settings()
        settings.port = 0
        settings.updates.firstInterval = nil
        change(&settings)
        let device = device
        return LocalServer(
            device: device.device,
            settings: settings,
            sync: { report throws(SyncError) in
                var device = device
                device.report = report
                return try await device.sync()
            },
            report: { _ in }
        )
    }

    var token: String {
        get throws {
            String(decoding: try DiskFiles().read(root.appending("access-token"), limit: 64), as: UTF8.self)
        }
    }
}

extension LocalServer.Address {
    /// One that opened the URL.
    fileprivate var browser: Browser {
        get async throws { try await Browser.opening(url) }
    }
}

/// Shuts the listening socket of this process on a port down; false when there is none.
private func breakListener(on port: Int) -> Bool {
    for descriptor in CInt(3)..<4_096 {
        var (isListening, size) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening == 1
        else { continue }
        var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        let named = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            guard let start = bytes.baseAddress else { return CInt(-1) }
            return unsafe getsockname(descriptor, start.assumingMemoryBound(to: sockaddr.self), &length)
        }
        guard named == 0, Int(UInt16(bigEndian: address.sin_port)) == port else { continue }
        return shutdown(descriptor, CInt(SHUT_RDWR)) == 0
    }
    return false
}

// One at a time: each waits for a real disk, on the threads that all tests share.
@Suite("A local server", .serialized, .timeLimit(.minutes(10)))
struct LocalServerTests {
    @Test func `lets its own URL in, and turns its token into a cookie`() async throws {
        try await Served.with { world in
            world.publish("1")
            try await world.device.sync()
            let server = world.server()
            let address = try await server.start()
            let token = try #require(address.token?.text)
            let name = try #require(try world.device.store.configuration().host?.text)
            #expect(address.url == "http://\(name).localhost:\(address.port)/?cdvToken=\(token)")
            #expect(try world.token == "\(token)\n")
            let stranger = Browser(port: address.port, host: address.host)
            #expect(try await stranger.ask("/").status == 403)
            #expect(try await stranger.ask("/__patchline/events").status == 403)
            let navigation = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
            let first = try await stranger.ask("/?cdvToken=\(token)", navigation)
            #expect(first.status == 303 && first.field("Location") == "/")
            #expect(first.head.contains { $0.contains(token) } == false, "no cookie holds the token itself")
            var app = stranger
            app.cookie = first.field("Set-Cookie").map { String($0.prefix { $0 != ";" }) }
            let page = try await app.ask("/", navigation)
            #expect(page.status == 200 && page.body.withoutStamp == "<p>1</p>")
            #expect(page.field("Referrer-Policy") == "strict-origin-when-cross-origin")
            #expect(try await app.ask("/", [("Origin", "http://evil.example")], method: "POST").status == 403)
            await server.stop()
        }
    }

    @Test func `keeps its token in a file that its owner alone can read, from one start to the next`() async throws {
        try await Served.with { world in
            let server = world.server()
            let token = try #require(try await server.start().token)
            await server.stop()
            let file = world.root.appending("access-token")
            #expect(try DiskFiles().status(of: file)?.permissions == .privateFile)
            let again = world.server()
            #expect(try await again.start().token == token)
            await again.stop()
            try DiskFiles().remove(file)
            let fresh = world.server()
            #expect(try await fresh.start().token != token)
            await fresh.stop()
        }
    }

    @Test func `holds no large body in memory, least of all for who is not let in`() async throws {
        try await Served.with { world in
            let server = world.server()
            let address = try await server.start()
            let stranger = Browser(port: address.port, host: address.host)
            for path in ["/", "/__patchline/check"] {
                let answer = try await stranger.ask(path, [("Content-Length", "4097")], method: "POST")
                #expect(answer.status == 413)
            }
            await server.stop()
        }
    }

    /// E6.
    @Test func `stops with nothing hanging, and comes back on its port with its token`() async throws {
        try await Served.with { world in
            world.publish("1")
            try await world.install()
            let server = world.server()
            let address = try await server.start()
            let browser = try await address.browser
            let page = try await browser.hear { ear in
                #expect(try await ear.wait(for: "event: state"))
                async let stopped: Void = server.stop()
                let hasEnded = try await ear.wait(for: "never") == false
                await stopped
                return hasEnded
            }
            #expect(page, "the stream of events ended with the server")
            await #expect(throws: (any Error).self) { try await browser.ask("/") }
            #expect(try await server.start() == address)
            let again = try await address.browser
            #expect(try await server.start() == address, "a second start changes nothing")
            #expect(try await again.ask("/").status == 200)
            await server.stop()
            await server.stop()
        }
    }

    /// The launch waits for the writer lock, which is ours until the server was told to stop.
    @Test func `ends a start that is under way when it is told to stop, and counts no launch`() async throws {
        try await Served.with { world in
            world.publish("1")
            try await world.device.sync()
            let other = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .bind(host: "127.0.0.1", port: 0).get()
            let taken = try #require(other.localAddress?.port)
            let trying = NIOLockedValueBox<Int?>(nil)
            var settings = LocalServer.Settings()
            (settings.port, settings.takesNextFreePort, settings.updates.isAllowed) = (taken, true, false)
            let device = try SimulatedDevice(opening: world.device.store, of: world.repository, clock: world.clock)
            let server = LocalServer(device: device.device, settings: settings) { event in
                if case .portTaken(_, let next) = event { trying.withLockedValue { $0 = next } }
            }
            let lock = try StoreLock(world.device.store.writerLock)
            let start = Task { try await server.start() }
            // It listens, on the port after this one or a later one, and is about to launch.
            while true {
                try Task.checkCancellation()
                await Task.yield()
                guard let port = trying.withLockedValue({ $0 }) else { continue }
                if await (try? Browser(port: port).ask("/")) != nil { break }
            }
            let stop = Task.immediate { await server.stop() }
            // Asked after it was told to stop.
            await #expect(throws: LocalServerError.alreadyStarting) { try await server.start() }
            _ = consume lock
            await #expect(throws: LocalServerError.stopped) { try await start.value }
            await stop.value
            switch try device.device.state().machine.state {
            case .pending: break
            case .trying(_, _, let launch): #expect(launch.launches == 0)
            case .empty, .settled: Issue.record("what waited is gone")
            }
            #expect(try await server.start().port > taken, "it starts again")
            await server.stop()
            try await other.close()
        }
    }

    /// E6: systems take the sockets of an app that sleeps.
    @Test func `comes back on its port after its socket broke`() async throws {
        try await Served.with { world in
            world.publish("1")
            try await world.install()
            let server = world.server()
            let address = try await server.start()
            #expect(breakListener(on: address.port))
            await #expect(throws: LocalServerError.self) { try await server.waitForEnd() }
            #expect(try await server.start() == address)
            #expect(try await address.browser.ask("/").status == 200)
            await server.stop()
        }
    }

    @Test func `goes on with the trial that ran when it stopped, under the same launch`() async throws {
        try await Served.with { world in
            world.publish("1")
            try await world.device.sync()
            let server = world.server()
            let document = [("Sec-Fetch-Dest", "document"), ("Sec-Fetch-Mode", "navigate")]
            let before = try await server.start().browser.ask("/", document)
            await server.stop()
            guard case .trying(_, _, let stopped) = try world.device.device.state().machine.state else {
                Issue.record("no trial is running")
                return
            }
            #expect(stopped.launches == 0, "a clean stop does not count")
            let browser = try await server.start().browser
            let stamp = try #require(before.field(ReleaseStamp.field))
            #expect(try await browser.ask("/", document).body == before.body)
            let confirmed = try await browser.ask("/__patchline/confirm?page=\(stamp)", method: "POST")
            #expect(confirmed.body == "{\"result\":\"confirmed\"}")
            let status = try await browser.ask("/__patchline/status?page=\(stamp)").body
            #expect(status.contains("\"onTrial\":false"), "the page may ask at once: \(status)")
            #expect(try world.device.device.state().machine.confirmedLaunch == stopped.token)
            await server.stop()
        }
    }

    /// M22.
    @Test func `records its port at the first start alone, and tells of a taken one without touching the store`()
        async throws
    {
        try await Served.with { world in
            let first = world.server { $0.port = 0 }
            let taken = try await first.start().port
            #expect(
                try world.device.store.configuration().port == nil,
                "a port that was asked for is not the app's own"
            )
            try await world.device.store.changingConfiguration { $0.port = taken }
            try DiskFiles().remove(world.root.appending("access-token"))
            let device = try SimulatedDevice(opening: world.device.store, of: world.repository, clock: world.clock)
            var settings = LocalServer.Settings()
            settings.updates.isAllowed = false
            let before = try DiskFiles().list(world.root)
            let second = LocalServer(device: device.device, settings: settings) { _ in }
            await #expect(throws: LocalServerError.portInUse(taken)) { try await second.start() }
            #expect(try DiskFiles().list(world.root) == before)
            settings.takesNextFreePort = true
            let third = LocalServer(device: device.device, settings: settings) { _ in }
            let next = try await third.start().port
            #expect(next > taken)
            #expect(try world.device.store.configuration().port == taken, "the app's own port stays")
            await third.stop()
            await first.stop()
            #expect(try await second.start().port == taken)
            await second.stop()
        }
    }

    @Test func `fetches the first version by itself, and tells a waiting page how far it is`() async throws {
        try await Served.with { world in
            world.publish("1")
            let server = world.server { $0.updates.firstInterval = .seconds(3_600) }
            let browser = try await server.start().browser
            let document = [("Sec-Fetch-Dest", "document"), ("Sec-Fetch-Mode", "navigate")]
            try await browser.hear { ear in
                let exists = try await ear.wait(for: "\"current\":\"1\"", "event: switched")
                #expect(exists)
            }
            let page = try await browser.ask("/", document)
            #expect(page.status == 200 && page.body.withoutStamp == "<p>1</p>")
            await server.stop()
        }
    }

    @Test func `checks when a page asks, tells what came, and switches when the page says so`() async throws {
        try await Served.with { world in
            world.publish("1")
            try await world.install()
            let server = world.server()
            let browser = try await server.start().browser
            world.publish("2")
            try await browser.hear { ear in
                #expect(try await ear.wait(for: "event: state"))
                #expect(try await browser.ask("/__patchline/check", method: "POST").body == "{\"result\":\"started\"}")
                #expect(try await ear.wait(for: "event: ready"))
                #expect(try await ear.wait(for: "event: checked"))
                let percents = ear.text.matches(of: #/"percent":(\d+)/#).compactMap { Int($0.1) }
                #expect(percents == percents.sorted() && percents.last == 100, "\(percents)")
                #expect(try await browser.ask("/").body == "<p>1</p>")
                let header = [("X-Patchline-Switch", "1")]
                let switched = try await browser.ask("/__patchline/switch", header, method: "POST")
                #expect(switched.body == "{\"result\":\"switched\"}")
                #expect(try await ear.wait(for: "event: switched"))
                let again = try await browser.ask("/__patchline/switch", header, method: "POST")
                #expect(again.status == 409 && again.body.contains("No pending version to switch to"))
            }
            #expect(try await browser.ask("/").body == "<p>2</p>")
            let status = try await browser.ask("/__patchline/status").body
            #expect(status.contains("\"onTrial\":true,\"pending\":null,\"running\":\"2\""), "\(status)")
            await server.stop()
        }
    }

    @Test func `sends a report that names no secret`() async throws {
        try await Served.with { world in
            try await world.device.store.changingConfiguration {
                $0.user = UserID("alice")
                if let plan = ConditionKey("plan"), let gold = ConditionValue("gold") { $0.data = [plan: gold] }
            }
            world.publish("1")
            try await world.device.sync()
            let device = try SimulatedDevice(opening: world.device.store, of: world.repository, clock: world.clock)
            var settings = LocalServer.Settings()
            settings.port = 0
            settings.updates.isAllowed = false
            let server = LocalServer(device: device.device, settings: settings) { _ in }
            let address = try await server.start()
            let report = try await address.browser.ask("/__patchline/report").body
            #expect(report.contains("\"running\":[\"web 1\"]") && report.contains("\"server\":\"http://patches.test\""))
            let name = try #require(device.device.configuration.host?.text)
            for secret in [address.token?.text ?? "", name, "alice", "gold", Hex.text(SimulatedDevice.id)] {
                #expect(!report.contains(secret), "\(secret)")
            }
            guard case .trying(_, _, let launch) = try device.device.state().machine.state else {
                Issue.record("no trial is running")
                return
            }
            #expect(!report.contains(launch.token.text))
            await server.stop()
        }
    }

    @Test func `lists the folder that its owner names to who has the token, and tidies up there when it starts`()
        async throws
    {
        try await Served.with { world in
            let (files, content) = (DiskFiles(), world.root.appending("content"))
            try files.makeDirectory(content.appending(".patchline-uploads"))
            try files.write([1], to: content.appending(".patchline-uploads/1"))
            try files.write([1], to: content.appending("a.txt"))
            let server = world.server { $0.uploads = content }
            let address = try await server.start()
            #expect(try files.list(content.appending(".patchline-uploads")) == [])
            let list = "/__patchline/uploads/list?path=/"
            let stranger = Browser(port: address.port, host: address.host)
            #expect(try await stranger.ask(list).status == 403)
            #expect(try await address.browser.ask(list).body == #"[{"path":"\/a.txt","name":"a.txt","size":1}]"#)
            await server.stop()
            // With everybody let in, there is none.
            let open = world.server {
                $0.uploads = content
                $0.isOpen = true
            }
            let other = try await open.start()
            #expect(try await Browser(port: other.port, host: other.host).ask(list).status == 404)
            await open.stop()
        }
    }

    @Test func `takes a file of any size into that folder, and from who has the token alone`() async throws {
        try await Served.with { world in
            let (files, content) = (DiskFiles(), world.root.appending("content"))
            try files.makeDirectory(content)
            let server = world.server { $0.uploads = content }
            let address = try await server.start()
            let film = String(repeating: "film", count: 100_000)
            let form = """
                --XX\r\nContent-Disposition: form-data; name="files[]"; filename="film.mp4"\r\n\r\n\(film)\r\n--XX--\r\n
                """
            let target = "/__patchline/uploads/upload"
            let fields = [("Content-Type", "multipart/form-data; boundary=XX")]
            let stranger = Browser(port: address.port, host: address.host)
            // Refused before all of it is sent, which may end the connection first.
            let refused = try? await stranger.ask(target, fields, method: "POST", body: form)
            #expect(refused?.status != 200)
            #expect(try files.list(content.appending(".patchline-uploads")) == [])
            let app = try await address.browser
            let answer = try await app.ask(target, fields, method: "POST", body: form)
            #expect(answer.status == 200 && answer.body == "{}")
            #expect(try files.read(content.appending("film.mp4"), limit: 1_000_000) == Array(film.utf8))
            #expect(try files.list(content) == [".patchline-uploads", "film.mp4"])
            // The fields that say what a browser keeps to itself are those of every answer.
            #expect(answer.field("Referrer-Policy") == "strict-origin-when-cross-origin")
            await server.stop()
        }
    }

    @Test func `tells pages what went wrong, and not where on the device`() async throws {
        try await Served.with { world in
            var settings = LocalServer.Settings()
            settings.port = 0
            settings.updates.firstInterval = nil
            let path = world.root.appending("objects/ab")
            let server = LocalServer(
                device: world.device.device,
                settings: settings,
                sync: { _ throws(SyncError) in throw .file(.notFound(.read, path)) },
                report: { _ in }
            )
            let browser = try await server.start().browser
            try await browser.hear { ear in
                #expect(try await ear.wait(for: "event: state"))
                _ = try await browser.ask("/__patchline/check", method: "POST")
                #expect(try await ear.wait(for: "event: failed"))
                #expect(!ear.text.contains(world.root.string), "\(ear.text)")
            }
            let report = try await browser.ask("/__patchline/report").body
            #expect(report.contains("\"failed\"") && !report.contains(world.root.string), "\(report)")
            await server.stop()
        }
    }

    @Test func `keeps an open page on its release over real connections while it is switched`() async throws {
        try await Served.with { world in
            world.publish("1")
            try await world.install()
            let server = world.server()
            let browser = try await server.start().browser
            let document = [("Sec-Fetch-Dest", "document"), ("Sec-Fetch-Mode", "navigate")]
            func page(_ path: String) -> [(String, String)] {
                [("Referer", "http://\(browser.host):\(browser.port)\(path)"), ("Sec-Fetch-Dest", "script")]
            }
            #expect(try await browser.ask("/cart", document).body.withoutStamp == "<p>1</p>")
            world.publish("2")
            try await world.device.sync()
            let switched = try await browser.ask("/__patchline/switch", [("X-Patchline-Switch", "1")], method: "POST")
            #expect(switched.status == 200)
            #expect(try await browser.ask("/main.js", page("/cart")).body == "1")
            #expect(try await browser.ask("/shop", document).body.withoutStamp == "<p>2</p>")
            #expect(try await browser.ask("/main.js", page("/shop")).body == "2")
            #expect(try await browser.ask("/main.js", page("/cart")).body == "1")
            #expect(try await browser.ask("/cart", document).body.withoutStamp == "<p>2</p>")
            #expect(try await browser.ask("/main.js", page("/cart")).body == "2")
            await server.stop()
        }
    }
}
