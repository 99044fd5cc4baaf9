import Subprocess
import SystemPackage
import Testing

/// `patchsync doctor` on a device that is broken in one way at a time.
@Suite("A device's doctor")
struct DeviceDoctorTests {
    /// The code of each line that is not ok, and the one that the program ends with.
    private struct Found: Equatable, CustomStringConvertible {
        let codes: [String]
        let end: Int32?

        init(_ outcome: Outcome) {
            codes = outcome.output.matches(of: #/"code":"([A-Za-z]+)"/#).map { String($0.1) }
            end = outcome.code
        }

        init(_ codes: String..., end: Int32) { (self.codes, self.end) = (codes, end) }

        var description: String { "\(codes) \(end.map { "\($0)" } ?? "killed")" }
    }

    private func look(
        at device: Device,
        _ options: String...,
        environment: [Environment.Key: String?] = [:],
        clock: String? = nil
    ) async throws -> Found {
        let arguments = ["doctor", "--store", device.store.string, "--within", "300", "--json"] + options
        guard let clock else { return Found(try await run(.patchsync, arguments, environment: environment)) }
        let program = Tool.binaries.appending("patchsync").string
        return Found(try await run(.system("faketime"), [clock, program] + arguments))
    }

    @Test func `finds nothing where all is well, changes nothing, and names by its code what a server does wrong`()
        async throws
    {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                let before = try await StoreDigest(of: device.store)
                let well = try await device("doctor")
                #expect(well.code == 0 && well.output.contains("ok  server \(server.url): it answers"), "\(well)")
                for (mode, part, code) in [
                    ("404", "timestamp", "notFound"), ("500", "timestamp", "serverFailed"),
                    ("redirect", "timestamp", "redirected"), ("000", "timestamp", "noHTTP"),
                    ("short", "timestamp", "noAnswer"), ("flipped", "snapshot", "altered"),
                    ("oversized", "timestamp", "altered"),
                ] {
                    try server.turn(mode, for: part)
                    #expect(try await look(at: device) == Found(code, end: 3), "\(mode)")
                }
                try server.beHonest()
                #expect(try await look(at: device, clock: "+8 hours") == Found("clockDiffers", end: 10))
                #expect(try await look(at: device, clock: "+8 days") == Found("rolesExpired", "clockDiffers", end: 3))
                // Whoever is behind is known by what a sync keeps, and a look keeps nothing.
                #expect(try await StoreDigest(of: device.store) == before)
                try await device.sync().done()
                try await world.withServer(of: world.shop.site1) { old in
                    try device.ask(old.url)
                    #expect(try await look(at: device) == Found("serverBehind", end: 10))
                }
                try device.ask(server.url.replacing("http:", with: "https:"))
                #expect(try await look(at: device) == Found("noTLS", end: 3))
            }
            let device = Device(store: world.path("device"))
            try device.ask("http://127.0.0.1:9")
            #expect(try await look(at: device) == Found("noConnection", end: 3))
            // No name has a label of 64 letters, so nobody need be asked.
            try device.ask("http://\(String(repeating: "a", count: 64)).example")
            #expect(try await look(at: device) == Found("nameUnknown", end: 3))
        }
    }

    @Test func `names by its code what is wrong with a store and its machine`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site1) { server in
                let url = server.url
                func device(_ name: String) async throws -> Device {
                    try await world.settledDevice(server: url, as: name)
                }
                #expect(try await look(at: Device(store: world.path("nothing"))) == Found("noStore", end: 3))
                let state = try await device("state")
                try write("{", to: state.store.appending("channels/production/state.json"))
                #expect(try await look(at: state) == Found("stateDamaged", end: 10))
                let root = try await device("root")
                try write("{", to: root.store.appending("trust/root.json"))
                #expect(try await look(at: root) == Found("rootUnreadable", "altered", end: 3))
                let gone = try await device("gone")
                let missing = gone.store.appending("trust/root.json")
                try await run(.system("rm"), [missing.string]).done()
                #expect(try await look(at: gone) == Found("rootMissing", "stateDamaged", end: 3))
                let synced = try await gone.sync()
                #expect(synced.code == 6, "\(synced)")
                let error = "error: \(missing) is missing from the store\nhint: put it back from a copy"
                #expect(synced.errors.contains(error), "\(synced)")
                try await run(.system("rm"), [root.store.appending("trust/root.json").string]).done()
                #expect(try await look(at: root).codes.first == "rootMissing")
                try write("{", to: root.store.appending("config.json"))
                #expect(try await look(at: root) == Found("settingsUnreadable", end: 3))

                let whole = try await device("whole")
                let config = world.path("patchsync.yaml")
                let stores = "shop: {store: \(whole.store)}, till: {store: \(state.store), port: 0}"
                try write("stores: {\(stores)}\n", to: config)
                let both = try await run(.patchsync, ["doctor", "--config", config.string])
                #expect(
                    both.code == 10 && both.output.contains("ok  shop state: it can be read\n")
                        && both.output.contains("warning  till state: "),
                    "\(both)"
                )
                try write("stores:\n  shop: {stor: /x}\n", to: config)
                let broken = try await run(.patchsync, ["doctor", "--config", config.string])
                #expect(
                    broken.code == 3
                        && broken.output == """
                            fault  settings: \(config):2: there is no setting 'stor' [settingsUnreadable]
                              hint: did you mean store?

                            """,
                    "\(broken)"
                )
                try await world.makeKeys(world.path("keys"), of: "com.example.other")
                #expect(
                    try await look(at: whole, "--root", world.path("keys/root.json").string)
                        == Found("rootDiffers", end: 3)
                )
                #expect(try await look(at: whole, "--root", world.root.string) == Found(end: 0))
                #expect(
                    try await look(
                        at: whole,
                        environment: ["PATCHSYNC_MACHINE": "another", "HTTPS_PROXY": "http://p:1"]
                    )
                        == Found("copied", "proxySet", end: 10)
                )
                try await run(.system("chmod"), ["g+w", whole.store.string]).done()
                #expect(try await look(at: whole) == Found("openToOthers", end: 3))
                try await run(.system("chmod"), ["g-w", whole.store.string]).done()
                // The server that this test runs is not the app's.
                let file = whole.store.appending("config.json")
                let port = try #require(url.split(separator: ":").last)
                let text = try read(file).replacing(#/"port":\d+,?/#, with: "")
                try write(text.replacing("{", with: #"{"appBuild":"6","port":\#(port),"#, maxReplacements: 1), to: file)
                #expect(try await look(at: whole, "--app-build", "7") == Found("appBuild", "portTaken", end: 3))
            }
        }
    }

    @Test func `tells what is wrong with a server's certificate`() async throws {
        try await World.with { world in
            let names = [("IP:127.0.0.1", "certificateUntrusted"), ("DNS:updates.example", "certificateName")]
            for (index, (name, code)) in names.enumerated() {
                let (certificate, key) = (world.path("\(index).crt"), world.path("\(index).key"))
                try await run(
                    .system("openssl"),
                    [
                        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                        "/CN=127.0.0.1", "-addext", "subjectAltName=\(name)", "-days", "3", "-keyout", key.string,
                        "-out",
                        certificate.string,
                    ]
                ).done()
                try await serving(
                    world.shop.site1,
                    ["--tls-certificate", certificate.string, "--tls-key", key.string]
                ) { url in
                    let device = try await world.settledDevice(server: url, as: "device\(index)")
                    if index == 1 { try await device("set", "--ca", certificate.string).done() }
                    #expect(try await look(at: device) == Found(code, end: 3))
                    #expect(try await look(at: device, clock: "+4 days").codes.first == "certificateExpired")
                }
            }
        }
    }
}
