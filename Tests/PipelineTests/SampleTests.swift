import Subprocess
import SystemPackage
import Testing

/// `Examples/Shop`, linked against the library as any app is.
@Suite("The sample app of the library")
struct SampleTests {
    @Test func `installs the first version by itself, shows it, and runs it again without the network`() async throws {
        try await World.with { world in
            let device = Device(store: world.path("store"))
            @Sendable func shop(
                _ server: String,
                _ body: @escaping @Sendable (RunningProgram) async throws -> Void
            ) async throws -> Outcome {
                let arguments = [device.store.string, server, world.root.string]
                return try await running(.sample, arguments, environment: ["PORT": "0"], body).1
            }
            let site = try await world.site(world.shop.site2)
            let first = try await serving(site) { url in
                try await shop(url) { program in
                    let line = try await program.line(with: "open http")
                    let address = String(line.dropFirst("open ".count))
                    let page = try await Page.opened(device: device, program: program, address: address)
                    _ = try await eventually("the first version") { try await page.release() == 2 ? true : nil }
                    try await page.expect(release: 2)
                    try await page.confirm()
                }
            }
            #expect(
                first.code == 0
                    && first.output.contains("info shop: [Patchline] serving fix 2, tip 1, web 2.0.0, on trial"),
                "\(first)"
            )
            let second = try await shop("http://127.0.0.1:9") { program in
                let line = try await program.line(with: "open http")
                let address = String(line.dropFirst("open ".count))
                let page = try await Page.opened(device: device, program: program, address: address)
                try await page.expect(release: 2)
            }
            #expect(second.code == 0 && second.output.contains("the store keeps its own settings: server"), "\(second)")
            let other = try await run(.sample, [device.store.string, "http://127.0.0.1:9"])
            #expect(other.code == 64 && other.output.hasPrefix("usage: Shop"), "\(other)")
        }
    }
}
