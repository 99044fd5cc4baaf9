import SystemPackage

/// What a server of a web app and a device start from.
struct WebSite: Sendable {
    let world: World
    /// The server's folder.
    let data: FilePath
    private let original: SignedWebApps

    /// A copy of what was signed of these apps, with the first published.
    ///
    /// - Parameter apps: numbered from 1.
    static func make(in world: World, _ apps: [WebApp]) async throws -> WebSite {
        let original = try await SignedWebApps.of(apps)
        let data = try await world.site(original.site)
        return WebSite(world: world, data: data, original: original)
    }

    /// Also beside a server that runs.
    func publish(_ number: Int) async throws {
        try await world.publish(original.release(number), to: data).done()
    }

    /// A device that runs release 1, confirmed.
    func settledDevice(server: String) async throws -> Device {
        let device = Device(store: world.path("device"))
        try await copy(original.device, to: device.store)
        try device.ask(server)
        return device
    }
}

/// Releases of a web app, signed one after the other, a server that has published the first, and a store that runs it; made
/// once in a process for each content.
///
/// Nothing in it changes afterwards.
struct SignedWebApps: Sendable {
    private let world: World

    var site: FilePath { world.path("site") }
    var device: FilePath { world.path("device") }
    func release(_ number: Int) -> FilePath { world.path("release\(number)") }

    static func of(_ apps: [WebApp]) async throws -> SignedWebApps {
        try await Known.shared.task(for: apps).value
    }

    private actor Known {
        static let shared = Known()
        private var tasks: [[WebApp]: Task<SignedWebApps, any Error>] = [:]

        func task(for apps: [WebApp]) -> Task<SignedWebApps, any Error> {
            if let task = tasks[apps] { return task }
            let name = "apps\(tasks.count)"
            let task = Task {
                let world = World(shop: try await Workshop.ready(), folder: Workshop.folder.appending(name))
                let signed = SignedWebApps(world: world)
                try await signed.make(apps)
                return signed
            }
            tasks[apps] = task
            return task
        }
    }

    private func make(_ apps: [WebApp]) async throws {
        for app in apps {
            let source = world.path("source\(app.number)")
            try app.put(in: source)
            let previous = app.number == 1 ? nil : release(app.number - 1)
            try await world.release(source, to: "release\(app.number)", previous: previous).done()
        }
        let keys = world.shop.keys
        let online = keys.appending("online.key").string
        try await run(
            .patchsrv,
            ["init", "--data", site.string, "--trust", keys.string, "--online-key", online]
        ).done()
        try await world.publish(release(1), to: site).done()
        try await serving(site) { server in
            let device = try await world.newDevice(server: server)
            try await device.sync().done()
            try await device.switchAndConfirm()
        }
    }
}
