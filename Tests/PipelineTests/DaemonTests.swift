import Dispatch
import FoundationEssentials
import Glibc
import Subprocess
import Synchronization
import SystemPackage
import Testing

/// One process for all stores of a device, as a service manager runs it.
@Suite("patchsync run")
struct DaemonTests {
    /// Runs `patchsync run` while `body` runs; it must stop in good order unless the test killed it.
    private func daemon(
        _ settings: FilePath,
        notifying manager: FilePath? = nil,
        _ body: @escaping @Sendable (RunningProgram) async throws -> Void
    ) async throws {
        let (_, outcome) = try await running(
            .patchsync,
            ["run", "--config", settings.string],
            environment: manager.map { ["NOTIFY_SOCKET": $0.string, "WATCHDOG_USEC": "400000"] } ?? [:],
            body
        )
        #expect(outcome.code == 0 || outcome.wasKilled, "\(outcome)")
    }

    /// The page of a store, opened by the URL that `run` printed.
    private func page(_ name: String, _ device: Device, _ program: RunningProgram, from start: Int = 0) async throws
        -> Page
    {
        let line = try await program.line(with: "\(name): patchsync: listening on http", from: start)
        let address = try #require(line.split(separator: " ").last.map(String.init))
        return try await Page.opened(device: device, program: program, address: address)
    }

    /// A timer that a program has from the kernel, and in how many seconds it is over.
    private struct KernelTimer: Hashable {
        let goesOnInSleep: Bool
        let seconds: Int
    }

    /// Its timers that are set.
    private static func timers(of program: RunningProgram) -> [KernelTimer] {
        let folder = "/proc/\(program.id)/fdinfo"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { name in
            guard let text = try? read(FilePath("\(folder)/\(name)")),
                let left = text.firstMatch(of: #/it_value: \((\d+), (\d+)\)/#), left.1 != "0" || left.2 != "0"
            else { return nil }
            return KernelTimer(goesOnInSleep: text.contains("clockid: 7\n"), seconds: Int(left.1) ?? 0)
        }
    }

    @Test func `keeps two stores, takes other settings without touching what they do not change, and is the only one`()
        async throws
    {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let arguments = ["serve", "--data", site.string] + anyPorts
            _ = try await running(.patchsrv, arguments) { server in
                let url = try await server.address()
                let shop = try await world.settledDevice(server: url, as: "shop")
                let till = Device(store: world.path("till"))
                let file = world.path("patchsync.yaml")
                let first = "stores:\n  shop: {store: \(shop.store), port: 0, sync-every: 2s}\n"
                let second =
                    "  till:\n    {store: \(till.store), server: '\(url)', root: \(world.root), serve: false}\n"
                try write(first + second, to: file)
                let manager = try NotifySocket(at: world.path("notify.sock"))
                try await manager.reading {
                    try await daemon(file, notifying: manager.path) { program in
                        let page = try await page("shop", shop, program)
                        // Nobody looks at it, so what came starts.
                        _ = try await program.line(with: "shop: serving fix 2, tip 1, web 2.0.0 (on trial")
                        _ = try await program.line(with: "till: the store was made in \(till.store)")
                        _ = try await program.line(with: "till: serving fix 2, tip 1, web 2.0.0 (on trial")
                        let token = try await program.line(with: "till: serving").firstMatch(
                            of: #/echo ([0-9a-f]{32})/#
                        )
                        try await till("confirm", "--launch", String(try #require(token?.1))).done()
                        _ = try await program.line(with: "till: confirmed: fix 2, tip 1, web 2.0.0")

                        for arguments in [["run", "--config", file.string], ["serve", "--store", till.store.string]] {
                            let other = try await run(.patchsync, arguments)
                            #expect(other.code == 7 && other.errors.contains("process \(program.id)"), "\(other)")
                        }
                        #expect(try await shop.sync().code == 0, "a sync beside it goes on")

                        try write(first + second + "    sync: 5m\n", to: file)
                        _ = try await program.line(with: "trouble: the settings stay as they were: \(file):")
                        let lines = await program.lineCount
                        try write(first, to: file)
                        _ = try await program.line(with: "settings were read again: till", from: lines)
                        try await page.expect(release: 2)
                        let more = await program.lineCount
                        try program.send(.terminalClosed)
                        _ = try await program.line(with: "settings were read again: nothing changed", from: more)
                        let gone = await program.lineCount
                        try FileManager.default.removeItem(atPath: file.string)
                        _ = try await program.line(with: "cannot read \(file): it does not exist", from: gone)
                        try write(first, to: file)
                        _ = try await program.line(with: "settings were read again: nothing changed", from: gone)
                        _ = try await eventually("a sign of life") {
                            manager.heard().contains("WATCHDOG=1") ? true : nil
                        }
                        // Whom the settings no longer name, somebody else may serve.
                        try await till.serving { page in
                            let release = try await page.release()
                            #expect(release == 2)
                        }
                    }
                }
                let heard = manager.heard().filter { $0 != "WATCHDOG=1" }
                #expect(heard.first == "READY=1\nSTATUS=keeps shop, till", "\(heard)")
                let faulty = heard.firstIndex { $0.hasPrefix("READY=1\nSTATUS=keeps its settings: ") }
                #expect(faulty != nil && heard.contains("READY=1\nSTATUS=keeps shop"), "\(heard)")
                #expect(heard.contains { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") }, "\(heard)")
                #expect(heard.last == "STOPPING=1", "\(heard)")
            }
        }
    }

    @Test func `gives a launch back when it is stopped during a trial, and counts one when it is killed`() async throws
    {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let shop = try await world.settledDevice(server: server.url)
                try await shop.sync().done()
                let file = world.path("patchsync.yaml")
                try write("stores: {shop: {store: \(shop.store), port: 0}}\n", to: file)
                for _ in 1...3 {
                    try await daemon(file) { program in
                        // Nothing else wakes it up: neither a task, nor a connection, nor Swift's runtime.
                        // One that comes every second shows itself in three.
                        var first: Int?
                        _ = try await eventually("the next look's timer, alone for three seconds") {
                            let timers = Self.timers(of: program)
                            let isAlone = timers.count == 1 && timers.first?.goesOnInSleep == true
                            let left = isAlone && (600...990).contains(timers[0].seconds) ? timers[0].seconds : nil
                            first = left.flatMap { first ?? $0 }
                            return if let first, let left, first - left >= 3 { true } else { nil }
                        }
                        try await page("shop", shop, program).expect(release: 2)
                        let status = try await shop("status")
                        #expect(status.output.contains("a trial is running, launch 1"), "\(status)")
                    }
                }
                try await daemon(file) { program in
                    try await page("shop", shop, program).expect(release: 2)
                    try await program.kill()
                }
                try await daemon(file) { program in
                    let page = try await page("shop", shop, program)
                    try await page.expect(release: 2)
                    let status = try await shop("status")
                    #expect(status.output.contains("a trial is running, launch 2"), "\(status)")
                    try await page.confirm()
                }
                try await shop.expectWhole(2)
            }
        }
    }
}

/// A service manager's socket: what it heard so far.
private final class NotifySocket: Sendable {
    let path: FilePath
    private let descriptor: Int32
    private let lines = Mutex<[String]>([])
    private let queue = DispatchQueue(label: "notify-socket")

    init(at path: FilePath) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.string.utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(3 + name.count))
            }
        }
        try #require(bound == 0)
    }

    deinit { close(descriptor) }

    /// Reads while `body` runs: whoever notifies waits where nobody does.
    func reading(_ body: () async throws -> Void) async throws {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [self] in read() }
        source.resume()
        defer { source.cancel() }
        try await body()
        queue.sync { read() }
    }

    func heard() -> [String] { lines.withLock(\.self) }

    private func read() {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe recv(descriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            guard count > 0 else { return }
            lines.withLock { $0.append(String(decoding: bytes.prefix(count), as: UTF8.self)) }
        }
    }
}
