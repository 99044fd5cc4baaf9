import FoundationEssentials
import SystemPackage
import Testing

@Suite("A tree that patchsrv export wrote")
struct ExportedTreeTests {
    private func export(_ site: FilePath, to folder: FilePath, _ options: String...) async throws -> Outcome {
        try await run(.patchsrv, ["export", folder.string, "--data", site.string] + options)
    }

    /// A release whose bundle has a file that compresses, and its pack with it.
    private func compressible(in world: World, on site: FilePath) async throws {
        try await copy(world.shop.source(2), to: world.path("large"))
        let code = (0..<2_000).map { "export const value\($0) = \($0 * 7);" }.joined(separator: "\n")
        try write(code, to: world.path("large/web/large.js"))
        try await world.release(world.path("large"), to: "larger", previous: world.shop.release(1)).done()
        try await world.publish(world.path("larger"), to: site, optimizing: true).done()
    }

    /// Asks a host for every form that an exported folder has.
    private func expectForms(_ url: String, in folder: FilePath, _ options: String...) async throws {
        let tree = folder.appending(Workshop.app)
        let judge = try await run(.python, [Tool.script("forms.py"), "\(url)/\(Workshop.app)", tree.string] + options)
        #expect(judge.code == 0, "\(judge)")
        // Role, list, manifest, object and pack at least, each in two codings, and one once more by another wish.
        #expect(try #require(judge.output.firstMatch(of: #/(\d+) forms asked for/#).flatMap { Int($0.1) }) >= 15)
    }

    /// JSPatch's clients ask for the folder, without a slash, and follow a redirect to it; a cache must ask each time.
    private func expectSyncFile(_ base: String, in folder: FilePath, type: String? = nil) async throws {
        let place = "gateways/platform/production/0a1b/2.1"
        let making = "mkdir -p \(place) && printf '{\"v\":3}' >\(place)/index.html && printf package >\(place)/file3"
        try await run(.system("sh"), ["-ec", making], in: folder.appending(Workshop.app)).done()
        for (path, body) in [
            (place, #"{"v":3}"#), ("\(place)/", #"{"v":3}"#), ("\(place)/index.html", #"{"v":3}"#),
            ("\(place)/file3", "package"),
        ] {
            let answer = try await run(.system("curl"), ["-sSLi", "\(base)/\(path)"]).done().output
            #expect(answer.hasSuffix("\r\n\r\n\(body)"), "\(path): \(answer)")
            #expect(answer.lowercased().contains("cache-control: no-cache\r\n"), "\(path): \(answer)")
            if let type, body != "package", !path.hasSuffix(".html") {
                #expect(answer.lowercased().contains("content-type: \(type)"), "\(answer)")
            }
        }
        let none = try await run(.system("curl"), ["-sSLi", "\(base)/gateways/platform/production/0a1b/2.2"]).done()
        #expect(none.output.contains(" 404"), "\(none)")
    }

    /// The documented configuration, and Caddy itself.
    @Test func `is served by Caddy and by patchsrv in its compressed forms, as by nginx`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            try await compressible(in: world, on: site)
            let folder = world.path("www")
            try await export(site, to: folder).done()
            try await serving(site) { url in
                // Its roles are compressed when they are read: those of the exported tree have forms on the disk.
                try await expectForms(url, in: site.appending("tree"), "--packs")
            }
            let page = Tool.repository.appending("Sources/Device/Patchline/Patchline.docc/StaticHosting.md")
            let block = try #require(try read(page).firstMatch(of: #/(?s)```\n(:8080 \{\n.*?)```/#)?.1)
            let configuration = world.path("Caddyfile")
            try write(String(block).replacing("/srv/www", with: folder.string), to: configuration)
            let work = world.path("caddy")
            try FileManager.default.createDirectory(atPath: work.string, withIntermediateDirectories: true)
            let arguments = [Tool.script("caddy.py"), configuration.string, "", "", work.string]
            let host = try await running(.python, arguments) { host in
                let url = try await host.address()
                let device = try await world.newDevice(server: url)
                try await device.sync().done()
                try await expectForms(url, in: folder)
                try await expectSyncFile("\(url)/\(Workshop.app)", in: folder)
            }
            #expect(host.1.code == 0 || host.1.wasTerminated, "\(host.1)")
        }
    }

    /// The documented configuration, and nginx itself.
    @Test func `is served by nginx as the page says: devices take it, and caches know what to keep`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let folder = world.path("www")
            try await export(site, to: folder).done()
            let page = Tool.repository.appending("Sources/Device/Patchline/Patchline.docc/StaticHosting.md")
            let block = try #require(try read(page).firstMatch(of: #/(?s)```nginx\n(.*?)```/#)?.1)
            let configuration = world.path("block.conf")
            try write(String(block), to: configuration)
            try FileManager.default.createDirectory(
                atPath: world.path("nginx").string,
                withIntermediateDirectories: true
            )
            let arguments = [Tool.script("nginx.py"), configuration.string, folder.string, world.path("nginx").string]
            let host = try await running(.python, arguments) { host in
                let url = try await host.address()
                let device = try await world.newDevice(server: url)
                try await device.sync().done()
                try await compressible(in: world, on: site)
                try await export(site, to: folder).done()
                try await device.sync().done()
                try await device.expectWhole(2)

                let base = "\(url)/\(Workshop.app)"
                func header(_ path: String) async throws -> String {
                    try await run(.system("curl"), ["-sSI", "\(base)/\(path)"]).done().output.lowercased()
                }
                let timestamp = try await header("metadata/timestamp.json")
                #expect(timestamp.contains("200") && timestamp.contains("cache-control: public, max-age=60\r\n"))
                #expect(timestamp.contains("content-type: application/json"))
                let express = try await header("metadata/express/production")
                #expect(express.contains("200") && express.contains("cache-control: public, max-age=60\r\n"))
                let names = try await run(
                    .system("bash"),
                    ["-c", "cd \(folder.appending(Workshop.app)) && ls packs/*/index.json"]
                ).done().output.split(separator: "\n")
                let index = try await header(String(try #require(names.first)))
                #expect(index.contains("200") && index.contains("cache-control: public, max-age=60\r\n"))
                let role = try await header("metadata/1.root.json")
                #expect(role.contains("cache-control: public, max-age=31536000, immutable\r\n"))
                let next = try await header("metadata/2.root.json")
                #expect(next.contains("404") && next.contains("cache-control: public, max-age=60\r\n"))
                try await expectSyncFile(base, in: folder, type: "application/json")
                let lock = try await run(.system("curl"), ["-sSI", "\(url)/.lock"]).done().output
                #expect(lock.contains("404") && lock.contains("no-store"))
                try await expectForms(url, in: folder)
            }
            #expect(host.1.code == 0 || host.1.wasTerminated, "\(host.1)")
        }
    }

    @Test func `with --valid holds for weeks, and devices go on with the server afterwards`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let folder = world.path("stick")
            let done = try await export(site, to: folder, "--valid", "30d").done()
            #expect(done.output.contains("timestamp 3, snapshot 3, dial 3, until "))
            let judge = try await run(
                .python,
                [try Tool.checkTree.string, folder.appending(Workshop.app).string, world.root.string]
            )
            #expect(judge.code == 0 && judge.output.contains("; 0 findings"), "\(judge)")

            let device = try await world.newDevice(server: "http://127.0.0.1:9")
            let arguments = ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder.string]
            _ = try await running(.python, arguments) { host in
                let line = try await host.line(with: "Serving HTTP on")
                let port = try #require(line.firstMatch(of: #/port (\d+)/#)?.1)
                try device.ask("http://127.0.0.1:\(port)")
                try await device.sync(at: "+20 days").done()
                try await device.expectWhole(1)
            }
            try await serving(site) { url in
                try device.ask(url)
                let lagging = try await device.sync(["--json"])
                #expect(
                    lagging.code == 0
                        && lagging.output.contains(#""staleMirror":{"known":3,"offered":2,"overdue":false}"#),
                    "\(lagging)"
                )
                try await world.publish(world.shop.release(2), to: site).done()
                let next = try await device.sync(["--json"]).done()
                #expect(!next.output.contains("staleMirror"), "\(next)")
                try await device.expectWhole(2)
            }
        }
    }

    @Test func `is refused where it would go back, and lies outside of the data folder`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            try await export(site, to: world.path("www"), "--valid", "2d").done()
            let older = try await export(site, to: world.path("www"))
            #expect(older.code == 8 && older.errors.contains("is older than 3, which the folder has"), "\(older)")
            let inside = try await export(site, to: site.appending("www"))
            #expect(
                inside.code == 64 && inside.errors.contains("contains the data folder, or is inside it"),
                "\(inside)"
            )
            let long = try await export(site, to: world.path("www"), "--valid", "366d")
            #expect(long.code == 64 && long.errors.contains("--valid must be at most 365d"), "\(long)")
        }
    }
}

@Suite("The care of a server's folder")
struct CareTests {
    @Test func `check names what is lost, and repair takes it from an export`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            try await run(.patchsrv, ["export", world.path("www").string, "--data", site.string]).done()
            let data = ["--data", site.string]
            let whole = try await run(.patchsrv, ["check"] + data).done()
            #expect(whole.output.contains("\(Workshop.app): whole\naudit log: "), "\(whole)")

            let lists = try FileManager.default.contentsOfDirectory(
                atPath: site.tree.appending("targets/production").string
            )
            let exported = world.path("www").appending(Workshop.app).appending("targets/production")
            let list = try #require(
                lists.first {
                    $0.hasSuffix(".patchlist.json")
                        && FileManager.default.fileExists(atPath: exported.appending($0).string)
                }
            )
            try FileManager.default.removeItem(atPath: site.tree.appending("targets/production/\(list)").string)
            let lost = try await run(.patchsrv, ["check"] + data)
            let path = "tree/\(Workshop.app)/targets/production/\(list)"
            #expect(lost.code == 3 && lost.output.contains("✗ \(path): missing: production 2 needs it"), "\(lost)")
            let alone = try await run(.patchsrv, ["check", "--repair", "--json"] + data)
            #expect(alone.code == 3 && alone.output.contains(#""whole": false"#), "\(alone)")
            let healed = try await run(.patchsrv, ["check", "--repair", "--from", world.path("www").string] + data)
            #expect(healed.code == 0 && healed.output.contains("✓ repaired \(path): missing"), "\(healed)")
            try await run(.patchsrv, ["check"] + data).done()
        }
    }

    @Test func `gc says what would go, takes it, and a device syncs on`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let data = ["--data", site.string]
            let list = site.tree.appending("metadata/2.production.json").string
            // The previous list's forms are kept for 15 minutes. The site was published at an unknown time before this test.
            func written(_ offset: TimeInterval) throws {
                let date = Date(timeIntervalSinceNow: offset)
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: list)
            }
            func usual() async throws -> String { try await run(.patchsrv, ["gc"] + data).done().output }
            try written(86_400)
            #expect(try await usual() == "\(Workshop.app): nothing was removed\n")
            try written(-86_400)
            let forms = try await usual()
            #expect(forms.contains(#/\ncompressed form +2 (.*)\nin all +2 /#), "\(forms)")
            #expect(try await usual() == "\(Workshop.app): nothing was removed\n")
            let all = ["--keep", "0", "--protect", "0h"]
            let dry = try await run(.patchsrv, ["gc", "--dry-run", "--json"] + all + data).done()
            let role = "tree/\(Workshop.app)/metadata/1.production.json"
            #expect(dry.output.contains(#""path": "\#(role)""#), "\(dry)")
            #expect(FileManager.default.fileExists(atPath: site.appending(role).string))
            let done = try await run(.patchsrv, ["gc"] + all + data).done()
            #expect(done.output.contains("\(Workshop.app): removed") && done.output.contains("in all"), "\(done)")
            #expect(!FileManager.default.fileExists(atPath: site.appending(role).string))
            try await run(.patchsrv, ["check"] + data).done()
            try await serving(site) { url in
                let device = try await world.settledDevice(server: url)
                try await device.sync().done()
                try await device.expectWhole(2)
            }
        }
    }

    @Test func `doctor has a line for each thing that a server stands on`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let fine = try await run(.patchsrv, ["doctor", "--data", site.string])
            #expect(fine.code == 10, "\(fine)")
            #expect(fine.output.contains("warning  \(Workshop.app) online key: it is not encrypted"), "\(fine)")
            #expect(fine.output.contains("ok  lock: it is free"), "\(fine)")
            try await serving(site) { url in
                let port = url.split(separator: ":").last.map(String.init) ?? ""
                let ours = try await run(.patchsrv, ["doctor", "--data", site.string, "--port", port, "--json"])
                #expect(ours.code == 10 && ours.output.contains("\(port) is served by patchsrv"), "\(ours)")
            }
            let open = try await run(.patchsrv, ["doctor", "--data", site.string, "--operators-host", "0.0.0.0"])
            #expect(
                open.code == 3
                    && open.output.hasSuffix(
                        """
                        fault  operators: operators would connect to 0.0.0.0 without TLS, so the network could read their tokens
                          hint: name a certificate with --tls-certificate and --tls-key, or set --operators-insecure-http on \
                        in a network that you trust

                        """
                    ),
                "\(open)"
            )
            let key = site.appending("apps/\(Workshop.app)/online.key")
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key.string)
            try FileManager.default.removeItem(atPath: site.tree.appending("metadata/1.targets.json").string)
            let ill = try await run(.patchsrv, ["doctor", "--data", site.string])
            #expect(ill.code == 3 && ill.output.contains("key file: other users can read it"), "\(ill)")
            #expect(ill.output.contains("tree: the published tree has lost"), "\(ill)")
        }
    }
}
