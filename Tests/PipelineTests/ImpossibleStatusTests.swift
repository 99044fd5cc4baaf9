import Foundation
import Testing

/// Servers that answer `HTTP/1.1 000 X`, as anybody on the way may: it ended each of these programs.
@Suite("A status that none can be")
struct ImpossibleStatusTests {
    private func answering(
        _ status: String,
        _ body: @escaping @Sendable (World, _ server: RunningProgram, _ url: String) async throws -> Void
    ) async throws {
        try await World.with { world in
            _ = try await running(.python, [Tool.script("impossible.py"), status]) { server in
                try await body(world, server, try await server.address())
            }
        }
    }

    @Test(arguments: ["000", "042", "099"])
    func `ends no sync but with its code, and what is installed runs on`(_ status: String) async throws {
        try await answering(status) { world, _, url in
            let device = try await world.settledDevice(server: url)
            let before = try await StoreDigest(of: device.store)
            let refused = try await device.sync()
            #expect(refused.code == 3, "\(refused)")
            #expect(refused.errors.contains("the server's answer has the invalid status \(status)"))
            #expect(try await StoreDigest(of: device.store) == before)
            try await device.expectWhole(1)
        }
    }

    @Test func `sends a sync to the next mirror`() async throws {
        try await answering("000") { world, server, url in
            try await world.withServer(of: world.shop.site2) { mirror in
                let device = try await world.settledDevice(server: url)
                try await device("set", "--mirror", mirror.url).done()
                try await device.sync().done()
                try await device.expectWhole(2)
                #expect(await server.text.contains("GET /\(Workshop.app)/metadata/2.root.json"))
            }
        }
    }

    @Test func `ends no app, whose page gets 502 from the API that answers so`() async throws {
        try await answering("000") { world, _, url in
            let device = try await world.settledDevice(server: url)
            try await device.serving(["--proxy", "/api/.*=\(url)"]) { page in
                for _ in 0..<3 {
                    let answer = try await page.get("/api/x", "-i")
                    #expect(answer.status == 502 && answer.body.contains("X-Patchline-Proxy: malformed"), "\(answer)")
                    #expect(answer.body.contains("has the invalid status 000."), "\(answer)")
                    let socket = try await page.get(
                        "/api/x",
                        "-i",
                        "-H",
                        "Connection: Upgrade",
                        "-H",
                        "Upgrade: websocket"
                    )
                    #expect(socket.status == 502 && socket.body.contains("has the invalid status 000"), "\(socket)")
                }
                try await page.expect(release: 1)
            }
        }
    }

    @Test func `ends no push but with its code, and the token is nowhere`() async throws {
        try await answering("000") { world, server, url in
            let token = world.path("a.token")
            let secret = "plt_0000000000000000_" + String(repeating: "5", count: 64)
            try writeSecret(secret, to: token)
            let refused = try await world.push(world.shop.release(2), to: url, token: token)
            #expect(refused.code == 4, "\(refused)")
            #expect(refused.errors.contains("error: the server's answer has the invalid status 000"), "\(refused)")
            #expect(!refused.text.contains(secret))
            // The server does not prove that it knows the token, so it gets none.
            let requests = await server.text.split(separator: "\n").filter { $0.hasPrefix("POST ") }
            #expect(requests.isEmpty, "\(requests)")
        }
    }
}
