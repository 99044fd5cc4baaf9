import Foundation
import SystemPackage
import Testing

/// T16: `serve` ended because its port was taken, and the next push asked the server that had it.
@Suite("Two servers on one machine")
struct TwoServersTests {
    private static let other = "com.example.other"

    /// The data folder of another app's server.
    private func otherSite(in world: World) async throws -> FilePath {
        let (keys, site) = (world.path("other-keys"), world.path("other-site"))
        let makeKeys = ["init", "--app", Self.other, "--keys", keys.string, "--unencrypted-keys", "--bits", "2048"]
        try await run(.patchsign, makeKeys).done()
        let online = keys.appending("online.key").string
        try await run(
            .patchsrv,
            ["init", "--data", site.string, "--trust", keys.string, "--online-key", online]
        ).done()
        return site
    }

    @Test func `start beside each other with --port 0 alone, and name who has a port that is taken`() async throws {
        try await World.with { world in
            let (first, second) = (try await world.site(world.shop.site1), try await otherSite(in: world))
            try await serving(first) { devices, operators in
                let arguments = ["serve", "--data", second.string, "--port", "0"]
                try await running(.patchsrv, arguments) { server in
                    let urls = [try await server.operators(), try await server.address(), devices, operators]
                    #expect(Set(urls).count == 4 && !urls[0].hasSuffix(":8081"), "\(urls)")
                }.1.done()
                for (option, url) in [("--port", devices), ("--operators-port", operators)] {
                    let port = try #require(url.split(separator: ":").last)
                    let free = option == "--port" ? "--operators-port" : "--port"
                    let taken = try await run(
                        .patchsrv,
                        ["serve", "--data", second.string, option, String(port), free, "0"]
                    )
                    #expect(taken.code == 7, "\(taken)")
                    let line = try Regex(
                        "error: port \(port) of 127.0.0.1 is in use by patchsrv \\(process [0-9]+\\)\n"
                    )
                    let hint =
                        "hint: stop the program that listens there, or name another with \(option) (0 uses any free one)\n"
                    #expect(taken.errors.contains(line) && taken.errors.hasSuffix(hint), "\(taken)")
                }
            }
            let shown = try await run(.patchsrv, ["serve", "--data", "/x", "--port", "0", "--print-config"]).done()
            #expect(shown.output.contains("operators-port: 0  # default\n"), "\(shown)")
        }
    }

    @Test func `get no token of each other, also where both have the app`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let token = try await world.token(for: site)
            let stranger = try await otherSite(in: world)
            try await serving(stranger) { _, url in
                let push = try await world.push(world.shop.release(2), to: url, token: token)
                let words = "the server at \(url) has \(Self.other), not \(Workshop.app); the token was not sent"
                let hint =
                    "another server may have its port: name yours with --server; `patchsrv serve` prints the operators' address"
                #expect(push.code == 3 && push.errors.contains(words) && push.text.contains(hint), "\(push)")
                let pull = try await world.pull(to: "work", from: url, token: token)
                #expect(pull.code == 3 && pull.errors.contains(words), "\(pull)")
                let dial = try await run(
                    .patchsrv,
                    [
                        "dial", "--app", Workshop.app, "--channel", "production", "--server", url, "--token-file",
                        token.string,
                    ]
                )
                #expect(dial.code == 3 && dial.errors == "error: \(words)\nhint: \(hint)\n", "\(dial)")
                let tokens = try await run(
                    .patchsrv,
                    ["token", "list", "--server", url, "--token-file", token.string]
                )
                #expect(tokens.code == 3 && tokens.errors.contains("this server does not know the token"), "\(tokens)")
            }
            // The same app by name, with other keys.
            let twin = world.path("twin")
            let keys = world.shop.otherKeys
            try await run(
                .patchsrv,
                [
                    "init", "--data", twin.string, "--trust", keys.string, "--online-key",
                    keys.appending("online.key").string,
                ]
            ).done()
            try await serving(twin) { _, url in
                let pull = try await world.pull(to: "work", from: url, token: token)
                let words = "the server at \(url) has another \(Workshop.app): its root of trust 1 differs from yours"
                #expect(pull.code == 3 && pull.errors.contains(words), "\(pull)")
                let push = try await world.push(world.shop.release(2), to: url, token: token)
                #expect(push.code == 3 && push.errors.contains("this server does not know the token"), "\(push)")
            }
        }
    }
}
