import AssetServer
import DeviceTesting
import HTTPFiles
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

/// A device in a folder of its own, with version 1 of a bundle, confirmed.
private func withDevice(_ body: (SimulatedDevice, _ root: FilePath) async throws -> Void) async throws {
    let root = FilePath("/tmp/own-host-tests-\(UInt64.random(in: 0...UInt64.max))")
    let clock = ManualClock()
    let repository = SimulatedRepository(clock: clock)
    do {
        let device = try SimulatedDevice(of: repository, clock: clock, on: DiskFiles(), at: root, isShared: true)
        repository.publish([.bundle("web", "1", ["index.html": "<p>1</p>"])])
        try await device.sync()
        try await device.launchAndConfirm()
        try await body(device, root)
    } catch {
        try? DiskFiles().removeTree(root)
        throw error
    }
    try DiskFiles().removeTree(root)
}

extension SimulatedDevice {
    /// Of the store as it is now.
    fileprivate func server(port: Int = 0, _ change: (inout LocalServer.Settings) -> Void = { _ in }) throws
        -> LocalServer
    {
        var settings = LocalServer.Settings()
        settings.port = port
        settings.updates.isAllowed = false
        change(&settings)
        return LocalServer(device: try device.reopened(), settings: settings) { _ in }
    }
}

/// What another user of the machine could do who has a port of it, and a browser that visits that.
@Suite("The app's own host", .serialized, .timeLimit(.minutes(10)))
struct OwnHostTests {
    private static let navigation = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]

    @Test func `is a name that nobody can guess, of this store alone and the same at every start`() async throws {
        try await withDevice { device, _ in
            let server = try device.server()
            let first = try await server.start()
            await server.stop()
            #expect(try #/[0-9a-f]{32}\.localhost/#.wholeMatch(in: first.host) != nil)
            let again = try device.server(port: first.port)
            #expect(try await again.start().origin == first.origin, "storage belongs to the origin")
            await again.stop()
            try await withDevice { other, _ in
                #expect(other.device.configuration.host != device.device.configuration.host)
            }
        }
    }

    @Test func `stands in a file that its owner alone can read`() async throws {
        try await withDevice { device, root in
            let name = try #require(device.device.configuration.host?.text)
            let file = device.store.configurationFile
            #expect(String(decoding: try DiskFiles().read(file, limit: 65_536), as: UTF8.self).contains(name))
            #expect(try DiskFiles().status(of: file)?.permissions == .privateFile)
            #expect(try DiskFiles().status(of: root)?.permissions == .privateDirectory)
        }
    }

    @Test func `gives a cookie that is not the token, outlives a restart, and ends with the token`() async throws {
        try await withDevice { device, root in
            let server = try device.server()
            let address = try await server.start()
            let token = try #require(address.token?.text)
            let open = try await Browser.opening(address.url)
            let shown = try await open.ask("/", Self.navigation)
            #expect(shown.status == 200 && shown.field("Set-Cookie")?.hasSuffix("; Max-Age=34560000") == true)
            #expect(shown.field("Set-Cookie")?.hasPrefix(open.cookie ?? "-") == true, "each page renews it")
            #expect(open.cookie?.contains(token) == false)
            await server.stop()
            let again = try device.server(port: address.port)
            #expect(try await again.start() == address, "port, token and name stay")
            #expect(try await open.ask("/").status == 200)
            await again.stop()
            try DiskFiles().remove(root.appending("access-token"))
            let other = try device.server(port: address.port)
            #expect(try await other.start().token?.text != token)
            #expect(try await open.ask("/").status == 403)
            await other.stop()
        }
    }

    /// In a browser that lost its cookies, or under 127.0.0.1, where a cookie ends with the session.
    @Test(arguments: [true, false])
    func `lets a page in again with the key that it keeps, until the token is replaced`(hasOwnHost: Bool) async throws {
        try await withDevice { device, root in
            if !hasOwnHost { try await device.store.changingConfiguration { $0.host = nil } }
            let server = try device.server()
            let address = try await server.start()
            let open = try await Browser.opening(address.url)
            let shown = try await open.ask(
                "/__patchline/shown",
                method: "POST",
                body: #"{"page":"00000000000000000000000000000000","age":0}"#
            )
            let key = try #require(shown.body.firstMatch(of: #/"key":"([0-9a-f]{32})"/#).map { String($0.1) })
            #expect(key != address.token?.text && open.cookie?.contains(key) == false)
            await server.stop()
            let again = try device.server(port: address.port)
            _ = try await again.start()
            #expect(try await open.ask("/").status == (hasOwnHost ? 200 : 403))
            var page = Browser(port: address.port, host: address.host)
            let origin = [("Origin", address.origin), ("Sec-Fetch-Site", "same-origin")]
            func enter(_ body: String, _ fields: [(String, String)]) async throws -> Browser.Answer {
                try await page.ask("/__patchline/enter", fields, method: "POST", body: body)
            }
            #expect(try await enter(#"{"key":"\#(String(key.reversed()))"}"#, origin).status == 403)
            #expect(try await enter(#"{"token":"\#(key)"}"#, origin).status == 403)
            #expect(try await enter(#"{"key":"\#(key)"}"#, [("Origin", "http://evil.example")]).status == 403)
            #expect(try await enter(#"{"key":"\#(key)"}"#, [("Sec-Fetch-Site", "same-site")]).status == 403)
            let entered = try await enter(#"{"key":"\#(key)"}"#, origin)
            #expect(entered.status == 204)
            page.cookie = entered.field("Set-Cookie").map { String($0.prefix { $0 != ";" }) }
            #expect(try await page.ask("/").status == 200)
            let first = try await enter(#"{"token":"\#(address.token?.text ?? "")"}"#, origin)
            #expect(first.status == 204 && first.field("Set-Cookie") == entered.field("Set-Cookie"))
            await again.stop()
            try DiskFiles().remove(root.appending("access-token"))
            let other = try device.server(port: address.port)
            _ = try await other.start()
            #expect(try await enter(#"{"key":"\#(key)"}"#, origin).status == 403)
            #expect(try await page.ask("/").status == 403)
            await other.stop()
        }
    }

    @Test func `is the only name that is answered, also for a program that has the token`() async throws {
        try await withDevice { device, _ in
            let server = try device.server()
            let address = try await server.start()
            for host in ["127.0.0.1", "localhost", "[::1]", "a.\(address.host)", "\(address.host)."] {
                let answer = try await Browser(port: address.port, host: host)
                    .ask("/?cdvToken=\(address.token?.text ?? "")", Self.navigation)
                #expect(answer.status == 421, "\(host)")
                #expect(!answer.head.contains { $0.hasPrefix("Set-Cookie") || $0.contains(address.host) }, "\(answer)")
                #expect(!answer.body.contains(address.host), "nobody learns the name: \(answer)")
            }
            await server.stop()
        }
    }

    /// A browser asks `[::1]` before 127.0.0.1 for a name below `localhost`.
    @Test func `is not started while somebody else listens on its port of the other loopback address`() async throws {
        try await withDevice { device, root in
            let somebody = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .bind(host: "::1", port: 0).get()
            let port = try #require(somebody.localAddress?.port)
            let before = try DiskFiles().list(root)
            let server = try device.server(port: port)
            await #expect(throws: LocalServerError.portInUse(port)) { try await server.start() }
            #expect(try DiskFiles().list(root) == before, "not even a token was made")
            let other = try device.server(port: port) { $0.takesNextFreePort = true }
            #expect(try await other.start().port > port)
            await other.stop()
            try await somebody.close()
            #expect(try await server.start().port == port)
            await server.stop()
        }
    }

    @Test func `lets nobody else listen on its port of the other loopback address while it is served`() async throws {
        try await withDevice { device, _ in
            func listen(on host: String, _ port: Int) async throws {
                let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    .bind(host: host, port: port).get()
                try await channel.close()
            }
            let server = try device.server()
            let port = try await server.start().port
            for host in ["::1", "::"] {
                await #expect(throws: (any Error).self, "\(host)") { try await listen(on: host, port) }
            }
            // It refuses there, so that a browser goes on to 127.0.0.1.
            await #expect(throws: (any Error).self) {
                let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .connect(host: "::1", port: port).get()
                try await channel.close()
            }
            await server.stop()
            try await listen(on: "::1", port)
        }
    }

    @Test func `is one that stores of before do not have, whose pages keep their storage on 127.0.0.1`() async throws {
        try await withDevice { device, _ in
            try await device.store.changingConfiguration { $0.host = nil }
            let server = try device.server()
            let address = try await server.start()
            let token = try #require(address.token?.text)
            #expect(address.url == "http://127.0.0.1:\(address.port)/?cdvToken=\(token)")
            let browser = try await Browser.opening(address.url)
            #expect(try await browser.ask("/").status == 200)
            #expect(browser.cookie?.contains(token) == false, "the cookie that every port gets is of this launch alone")
            await server.stop()
        }
    }

    @Test func `is taken and given up by a setting, and a name that is there stays`() async throws {
        try await withDevice { device, _ in
            let store = device.store
            let name = try store.configuration().host
            try await store.serve(under: .own)
            #expect(try store.configuration().host == name)
            try await store.serve(under: .address)
            #expect(try store.configuration().host == nil)
            try await store.serve(under: .own)
            #expect(try store.configuration().host != nil && store.configuration().host != name)
        }
    }

    @Test func `is beside 127.0.0.1 where every program is let in`() async throws {
        try await withDevice { device, _ in
            let server = try device.server { $0.isOpen = true }
            let address = try await server.start()
            #expect(address.url == "http://\(address.host):\(address.port)/" && address.host.hasSuffix(".localhost"))
            for host in ["127.0.0.1", "localhost", address.host] {
                #expect(try await Browser(port: address.port, host: host).ask("/").status == 200)
            }
            #expect(try await Browser(port: address.port, host: "other.localhost").ask("/").status == 421)
            await server.stop()
        }
    }
}
