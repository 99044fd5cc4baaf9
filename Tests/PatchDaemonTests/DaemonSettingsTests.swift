import HTTPFiles
import PatchDaemon
import PatchFormat
import PatchSync
import SystemPackage
import Testing

@Suite("The daemon's settings")
struct DaemonSettingsTests {
    private static func parsed(_ text: String) throws(DaemonSettingsFault) -> DaemonSettings {
        try DaemonSettings(Array(text.utf8), named: "d.yaml")
    }

    @Test func `are each store's, with what holds where nothing is said`() throws {
        let settings = try Self.parsed(
            """
            socket: /run/p/s.sock
            stores:
              till: {store: /var/lib/p/till}
              shop:
                store: /var/lib/p/shop
                server: https://updates.example.org
                root: /etc/p/root.json
                channel: beta
                sync-every: 1h
                serve: true
                port: 8123
                bundle: web
                startup-timeout: 1500ms
                startup-timer: launch
                url-file: /run/p/shop.html
                uploads: /var/lib/p/content
                proxy: ['/api/.*=https://api.example.com']
                proxies: /etc/p/proxies.json
            """
        )
        #expect(settings.socket == .at("/run/p/s.sock"))
        #expect(settings.stores.map(\.name) == ["shop", "till"])
        var shop = StoreSettings(name: "shop", store: "/var/lib/p/shop")
        shop.origin = StoreSettings.Origin(
            server: try #require(ServerURL("https://updates.example.org")),
            root: "/etc/p/root.json",
            channel: ChannelName("beta")
        )
        shop.syncEvery = .seconds(3_600)
        shop.port = 8_123
        shop.bundle = PatchID("web")
        shop.startupTimeout = .milliseconds(1_500)
        shop.countsLaunch = true
        shop.urlFile = "/run/p/shop.html"
        shop.uploads = "/var/lib/p/content"
        shop.proxy = ["/api/.*=https://api.example.com"]
        shop.proxies = "/etc/p/proxies.json"
        #expect(settings.stores[0] == shop)
        let till = StoreSettings(name: "till", store: "/var/lib/p/till")
        #expect(settings.stores[1] == till && till.syncEvery == .seconds(900) && till.serves && !till.countsLaunch)
    }

    @Test func `are all that serve and set know`() throws {
        let store = try Self.parsed(
            """
            stores:
              shop:
                store: /var/lib/p/shop
                no-sync: true
                parameters-every: 5m
                deadline: 1h
                stall-timeout: 2.5s
                retries: 7
                app-build: 2.1-7
                print-url: true
                www: /srv/app
                local-files: /srv/files
                open: true
                origin: ['https://a.example:8443']
                header: ['Cross-Origin-Embedder-Policy: require-corp', 'X-Frame-Options:']
                charset: utf-8
                type: ['MD=text/markdown']
                dialect: gcdwebserver
                proxy-ca: /etc/p/ca.pem
                proxy-timeout: 90s
                app-version: 2.1
                user: ann
                data: {region: eu, tier: }
                platform: ios
                compatibility: 0abe
                keep: 2
                reserve: 64MB
                answers: true
                express: false
                entry-signatures: manifest
                mirror: ['https://m.example.net']
                pin: ['sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=']
                host: localhost
                ca: /etc/p/own.pem
                debug: true
                metered: true
                allowance: 20kB
                limit-rate: 0B
                consent: security
                postpone-limit: 3d
                window: ['mon-fri 02:00-04:00']
                window-zone: UTC
            """
        ).stores[0]
        var wanted = StoreSettings(name: "shop", store: "/var/lib/p/shop")
        (wanted.syncs, wanted.parametersPolling, wanted.deadline) = (false, .every(.seconds(300)), .seconds(3_600))
        (wanted.stallTimeout, wanted.retries) = (.milliseconds(2_500), 7)
        (wanted.appBuild, wanted.printsURL) = (AppBuild("2.1-7"), true)
        (wanted.www, wanted.localFiles, wanted.isOpen) = ("/srv/app", "/srv/files", true)
        wanted.origins = ["https://a.example:8443"]
        wanted.headers = [
            try #require(StoreSettings.Header("Cross-Origin-Embedder-Policy: require-corp")),
            try #require(StoreSettings.Header("X-Frame-Options:")),
        ]
        #expect(wanted.headers.map(\.value) == ["require-corp", nil])
        (wanted.charset, wanted.types) = ("utf-8", ["md": "text/markdown"])
        wanted.dialect = .gcdWebServer(name: "GCDWebServer")
        (wanted.proxyCA, wanted.proxyTimeout) = ("/etc/p/ca.pem", .seconds(90))
        wanted.device = [
            .appVersion: .text("2.1"), .user: .text("ann"), .data: .table(["region": "eu", "tier": nil]),
            .platform: .text("ios"), .compatibility: .text("0abe"), .keep: .number(2), .reserve: .number(64_000_000),
            .answers: .flag(true), .express: .flag(false), .entrySignatures: .text("manifest"),
            .mirror: .list(["https://m.example.net"]),
            .pin: .list(["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]), .host: .text("localhost"),
            .ca: .text("/etc/p/own.pem"), .debug: .flag(true), .metered: .flag(true), .allowance: .number(20_000),
            .limitRate: .unset, .consent: .text("security"), .postponeLimit: .time(.seconds(259_200)),
            .window: .list(["mon-fri 02:00-04:00"]), .windowZone: .text("UTC"),
        ]
        #expect(store == wanted)
        #expect(Set(store.device.keys) == Set(DeviceSetting.allCases), "each setting is read above")
        var configuration = DeviceConfiguration(
            app: try #require(AppID("com.example.shop")),
            server: try #require(ServerURL("https://u.example")),
            channel: try #require(ChannelName("production"))
        )
        try DeviceSettings(store.device.filter { $0.key != .ca }).apply(to: &configuration)
        #expect(configuration.reserve == 64_000_000 && configuration.pages == .shared(.localhost))
        #expect(configuration.network.allowance == 20_000 && configuration.policy.postponeLimit == .seconds(259_200))
    }

    @Test func `of a store without pages count its launch, and one may be asked for by hand alone`() throws {
        let store = try Self.parsed("stores: {a: {store: /a, serve: false, sync-every: off}}").stores[0]
        #expect(!store.serves && store.countsLaunch && store.syncEvery == nil)
    }

    @Test(
        arguments: [
            ("", "d.yaml: names no store"), ("a: ]", "d.yaml:1: is not YAML: did not find expected node content"),
            ("stores: {}", "d.yaml:1: stores names no store"),
            ("stores: 5", "d.yaml:1: stores must be a mapping: name: value"),
            ("- a", "d.yaml:1: the file must be a mapping: name: value"),
            ("stores: {a: {store: /a}, a: {store: /b}}", "d.yaml:1: sets 'a' twice"),
            ("sockets: none\nstores: {a: {store: /a}}", "d.yaml:1: there is no setting 'sockets'"),
            ("stores:\n  a:\n    store: /a\n    sync: 5m", "d.yaml:4: there is no setting 'sync'"),
            (
                "stores:\n  A: {store: /a}",
                "d.yaml:2: the name 'A' must be 1 to 64 of a-z, 0-9, '-', '_' and '.', a letter or digit first"
            ),
            ("stores: {a: /a}", "d.yaml:1: a must be a mapping: name: value"),
            ("stores: {a: {port: 1}}", "d.yaml:1: a has no store: its folder"),
            ("stores: {a: {store: a}}", "d.yaml:1: store must be a path from / on"),
            ("stores: {a: {store: [/a]}}", "d.yaml:1: store must have one value"),
            ("socket: s\nstores: {a: {store: /a}}", "d.yaml:1: socket must be a path from / on"),
            ("stores: {a: {store: /a, port: 65536}}", "d.yaml:1: port must be from 0 to 65535"),
            ("stores: {a: {store: /a, serve: yes}}", "d.yaml:1: serve must be true or false"),
            (
                "stores: {a: {store: /a, sync-every: 15}}",
                "d.yaml:1: sync-every must be a length of time such as 15m or 1h, or off"
            ),
            (
                "stores: {a: {store: /a, sync-every: 0s}}",
                "d.yaml:1: sync-every must be a length of time such as 15m or 1h, or off"
            ),
            (
                "stores: {a: {store: /a, startup-timeout: 2h}}",
                "d.yaml:1: startup-timeout must be a length of time from 1ms to 1h, such as 20s"
            ),
            ("stores: {a: {store: /a, startup-timer: never}}", "d.yaml:1: startup-timer must be page or launch"),
            (
                "stores: {a: {store: /a/b, uploads: /a/b}}",
                "d.yaml:1: uploads of a must not be its store, be in it or contain it"
            ),
            (
                "stores: {a: {store: /a/b, uploads: /a}}",
                "d.yaml:1: uploads of a must not be its store, be in it or contain it"
            ),
            (
                "stores: {a: {store: /a/b, uploads: /a/b/objects}}",
                "d.yaml:1: uploads of a must not be its store, be in it or contain it"
            ),
            ("stores: {a: {store: /a, proxy: x}}", "d.yaml:1: proxy must be a list"),
            (
                "stores: {a: {store: /a, proxy: [x]}}",
                "d.yaml:1: proxy 'x' must be PATTERN=URL, as in '/api/.*=https://api.example.com'"
            ),
            (
                "stores: {a: {store: /a, server: 'https://u.example'}}",
                "d.yaml:1: a has only some of server, root and channel; a new store needs server and root"
            ),
            ("stores: {a: {store: /x}, b: {store: /x/}}", "d.yaml:1: stores gives a and b the same folder"),
            (
                "stores: {a: {store: /a/b, www: /a}}",
                "d.yaml:1: www of a must not be its store, be in it or contain it"
            ),
            (
                "stores: {a: {store: /a, open: true, uploads: /b}}",
                "d.yaml:1: open and uploads of a exclude each other: uploads are for clients with the access token"
            ),
            (
                "stores:\n  a:\n    store: /a\n    header:\n    - 'A: b'\n    - c",
                "d.yaml:6: header 'c' must be 'Name: value'"
            ),
            ("stores: {a: {store: /a, keep: 11}}", "d.yaml:1: keep must be from 0 to 10"),
            ("stores: {a: {store: /a, platform: ios}}", "d.yaml:1: platform and compatibility go together"),
            ("stores: {a: {store: /a, host: example.org}}", "d.yaml:1: host must be own, localhost or 127.0.0.1"),
            ("stores: {a: {store: /a, ca: ca.pem}}", "d.yaml:1: ca must be a path from / on"),
            ("stores: {a: {store: /a, data: eu}}", "d.yaml:1: data must be a mapping: name: value"),
            ("stores: {[a]: {store: /x}}", "d.yaml:1: stores must have plain text as keys"),
        ]
    )
    func `are refused as a whole, by file, line and rule`(text: String, fault: String) {
        #expect {
            try Self.parsed(text)
        } throws: { error in
            "\(error)" == fault
        }
    }

    @Test func `with a key that nobody knows hint at the one that was meant, or name all`() {
        func hint(_ text: String) -> String? {
            do throws(DaemonSettingsFault) { _ = try Self.parsed(text) } catch { return error.hint }
            return nil
        }
        #expect(hint("stores: {a: {store: /a, sync_every: 5m}}") == "did you mean sync-every?")
        #expect(hint("stores: {a: {store: /a, own-host: true}}") == "write `host: own`.")
        #expect(hint("xyzxyz: 1") == "there are socket, stores.")
        #expect(hint("stores: {}") == "a store is NAME: and below it, indented, store: /var/lib/patchline/NAME")
        #expect(
            hint("stores: {a: {store: /a, channel: beta}}")
                == "set server and root, or none of the three if `patchsync init` makes the store."
        )
    }

    @Test func `that are no UTF-8 are none`() {
        #expect(throws: DaemonSettingsFault(file: "d.yaml", line: nil, rule: "is not UTF-8")) {
            try DaemonSettings([0xFF], named: "d.yaml")
        }
    }

    /// What Running.md says in its table.
    @Test func `that change restart a store only where its listener, proxy or launch is concerned`() {
        #expect(
            StoreSetting.allCases.filter { $0.effect == .none }.map(\.name) == [
                "server", "channel", "sync-every", "parameters-every", "deadline", "stall-timeout", "retries",
                "startup-timeout", "startup-timer", "url-file", "print-url",
            ]
        )
        #expect(DeviceSetting.allCases.filter { $0.effect == .restart } == [.host])
        let before = StoreSettings(name: "a", store: "/a")
        var after = before
        (after.syncEvery, after.device[.keep]) = (.seconds(60), .number(3))
        #expect(before.effect(ofChangeTo: after) == .none)
        let change = SettingsChange(from: [before], to: [after])
        #expect(change.adjusted == [after] && change.stopped.isEmpty && change.started.isEmpty && change.names == ["a"])
        after.device[.host] = .text("localhost")
        #expect(before.effect(ofChangeTo: after) == .restart)
        #expect(SettingsChange(from: [before], to: [after]).stopped == ["a"])
    }

    @Test func `that change stop and start only the stores that have others`() {
        let (a, b, c) = (
            StoreSettings(name: "a", store: "/a"), StoreSettings(name: "b", store: "/b"),
            StoreSettings(name: "c", store: "/c")
        )
        var other = b
        other.port = 5
        let change = SettingsChange(from: [a, b], to: [a, other, c])
        #expect(change.stopped == ["b"] && change.started == [other, c] && !change.isEmpty)
        #expect(SettingsChange(from: [a, b], to: [a, b]).isEmpty)
        #expect(SettingsChange(from: [a, b], to: [b]).stopped == ["a"])
    }

    @Test(
        arguments: [
            (.standard, "/run/p", "/run/p/patchsync.sock"), (.standard, nil, "/run/patchline/patchsync.sock"),
            (.standard, "", "/run/patchline/patchsync.sock"), (.at("/x"), "/run/p", "/x"), (.none, "/run/p", nil),
        ] as [(DaemonSettings.Socket, String?, FilePath?)]
    )
    func `put the socket where the service manager gives a folder`(
        socket: DaemonSettings.Socket,
        runtime: String?,
        path: FilePath?
    ) {
        #expect(socket.path(runtime: runtime) == path)
    }
}
