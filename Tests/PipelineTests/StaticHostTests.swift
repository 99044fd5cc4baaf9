import SystemPackage
import Testing

@Suite("A static file server in place of patchsrv")
struct StaticHostTests {
    @Test func `is all that a device needs to install, serve and update`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let folder = site.appending("tree").string
            let arguments = ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder]
            let host = try await running(.python, arguments) { host in
                let line = try await host.line(with: "Serving HTTP on")
                let port = try #require(line.firstMatch(of: #/port (\d+)/#)?.1)
                let device = try await world.newDevice(server: "http://127.0.0.1:\(port)")
                try await device.sync().done()
                try await device.serving { page in
                    try await page.expect(release: 1)
                    try await page.confirm()
                    try await world.publish(world.shop.release(2), to: site, optimizing: true).done()
                    try await device.sync().done()
                    try await page.expect(release: 1)
                    try await device("switch").done()
                    _ = try await eventually("release 2") { try await page.release() == 2 ? true : nil }
                    try await page.expect(release: 2)
                    try await page.confirm()
                }
                try await device.expectWhole(2)
                let requests = await host.text
                // A script, and the bundle's new files in a pack from the version before.
                #expect(requests.components("/objects/") == 7 + 1, "only what changed travels: \(requests)")
                #expect(requests.components("/from-") == 1, "the pack with its signatures: \(requests)")
            }
            #expect(host.1.wasTerminated, "\(host.1)")
        }
    }
}
