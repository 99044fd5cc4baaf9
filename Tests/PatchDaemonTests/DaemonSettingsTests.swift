import PatchDaemon
import PatchFormat
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
                "d.yaml:1: uploads of a must not be its store, lie in it or hold it"
            ),
            (
                "stores: {a: {store: /a/b, uploads: /a}}",
                "d.yaml:1: uploads of a must not be its store, lie in it or hold it"
            ),
            (
                "stores: {a: {store: /a/b, uploads: /a/b/objects}}",
                "d.yaml:1: uploads of a must not be its store, lie in it or hold it"
            ),
            ("stores: {a: {store: /a, proxy: x}}", "d.yaml:1: proxy must be a list of at most 100 rules"),
            (
                "stores: {a: {store: /a, proxy: [x]}}",
                "d.yaml:1: proxy 'x' must be PATTERN=URL, as in '/api/.*=https://api.example.com'"
            ),
            (
                "stores: {a: {store: /a, server: 'https://u.example'}}",
                "d.yaml:1: a has one of server, root and channel without the others that a store is made from"
            ),
            ("stores: {a: {store: /x}, b: {store: /x/}}", "d.yaml:1: stores gives a and b the same folder"),
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
        #expect(hint("xyzxyz: 1") == "there are socket, stores.")
        #expect(hint("stores: {}") == "a store is NAME: and below it, indented, store: /var/lib/patchline/NAME")
        #expect(
            hint("stores: {a: {store: /a, channel: beta}}")
                == "name server and root, or none of them where `patchsync init` makes the store."
        )
    }

    @Test func `that are no UTF-8 are none`() {
        #expect(throws: DaemonSettingsFault(file: "d.yaml", line: nil, rule: "is not UTF-8")) {
            try DaemonSettings([0xFF], named: "d.yaml")
        }
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
