import PatchDaemon
import SystemPackage
import Testing

@Suite("The daemon's settings with links")
struct LinkedSettingsTests {
    private static func settings(_ text: String) throws -> DaemonSettings {
        let links: [FilePath: FilePath] = [
            "/home/shop": "/var/home/shop", "/srv/till": "/var/home/shop", "/etc/p/root.json": "/usr/p/root.json",
            "/data/in": "/var/home/shop/in", "/data/files": "/mnt/files",
        ]
        return try DaemonSettings(Array(text.utf8), named: "d.yaml").resolved(named: "d.yaml") { links[$0] ?? $0 }
    }

    @Test func `name folders and files by links, which are followed`() throws {
        let store = try Self.settings(
            """
            stores:
              a: {store: /home/shop, server: 'https://a.example', root: /etc/p/root.json, uploads: /data/files, url-file: /run/u}
            """
        ).stores[0]
        #expect(store.store == "/var/home/shop")
        #expect(store.origin?.root == "/usr/p/root.json")
        #expect(store.uploads == "/mnt/files" && store.urlFile == "/run/u")
    }

    @Test func `give no two stores one folder, whatever they call it`() {
        #expect(
            throws: DaemonSettingsFault(
                file: "d.yaml",
                line: nil,
                rule: "stores gives a and b the same folder: /var/home/shop"
            )
        ) {
            try Self.settings("stores: {a: {store: /home/shop}, b: {store: /srv/till}}")
        }
    }

    @Test func `put no uploads into a store by a link`() {
        #expect(
            throws: DaemonSettingsFault(
                file: "d.yaml",
                line: nil,
                rule: "uploads of a must not be its store, be in it or contain it"
            )
        ) {
            try Self.settings("stores: {a: {store: /home/shop, uploads: /data/in}}")
        }
    }
}
