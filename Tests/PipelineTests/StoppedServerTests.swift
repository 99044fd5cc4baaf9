import Foundation
import Subprocess
import SystemPackage
import Testing

/// The real `patchsrv serve`, which gets SIGTERM in the middle of an upload (Judges/part.py).
@Suite("A patchsrv that is stopped", .timeLimit(.minutes(30)))
struct StoppedServerTests {
    /// How much of a part is sent before the signal.
    private static let sent = 100

    /// Sends the beginning of a part, and SIGTERM once the server has it.
    ///
    /// - Parameters:
    ///   - then: what the sender does after that.
    ///   - stopWithin: how long the server may take.
    /// - Returns: what the sender printed.
    private func stop(
        _ site: FilePath,
        in world: World,
        token: String,
        then: String,
        stopWithin: String
    ) async throws -> String {
        let serve = ["serve", "--data", site.string, "--stop-within", stopWithin] + anyPorts
        let (printed, outcome) = try await running(.patchsrv, serve) { server in
            let (devices, url) = (try await server.address(), try await server.operators())
            let fixture = ServiceFixture(world: world, site: site, url: url, devices: devices)
            let sending = [Tool.script("part.py"), url, token, world.shop.release(2).string, "\(Self.sent)", then]
            let (_, sender) = try await running(.python, sending) { sender in
                let words = try await sender.line(with: "sent ").split(separator: " ").map(String.init)
                let part = "/apps/\(Workshop.app)/uploads/\(words[1])/parts/\(words[2])"
                _ = try await eventually("the part's beginning at the server") {
                    try await fixture.ask("GET", part, token: token).1.contains(#""offset":\#(Self.sent)}"#)
                        ? true : nil
                }
                try await server.end(by: .terminate)
                try await sender.end()
            }
            return try sender.done().output
        }
        #expect(outcome.code == 0, "\(outcome)")
        return printed
    }

    @Test func `keeps the bytes of a sender who waits, and the next one asks for the rest alone`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let file = try await world.token(for: site)
            let token = try read(file).trimmingCharacters(in: .whitespacesAndNewlines)
            let printed = try await stop(site, in: world, token: token, then: "wait", stopWithin: "1s")
            #expect(printed.hasSuffix("answered nothing"), "\(printed)")
            let words = printed.split(whereSeparator: \.isWhitespace).map(String.init)
            let part = site.appending("uploads/\(Workshop.app)/\(words[1])/blobs/\(words[2]).part")
            // Without the release before it, which would make a pack of it.
            let release = world.path("release2")
            try await copy(world.shop.release(2), to: release)
            #expect(try read(part).utf8.count == Self.sent)
            let whole = try await run(.system("bash"), ["-c", "cat \(release)/targets/*/* \(release)/targets/*/*/*/*"])
            #expect(whole.output.contains(try read(part)))

            let other = try await world.site(world.shop.site1, as: "other")
            let its = try await world.token(for: other, as: "its.token")
            let fresh = try await serving(other) { _, url in
                try await world.push(release, to: url, token: its).json()["sentBytes"] as? Int
            }
            try await serving(site) { _, url in
                let rest = try await world.push(release, to: url, token: file).json()
                #expect(rest["outcome"] as? String == "published")
                #expect((rest["sentBytes"] as? Int).map { $0 + Self.sent } == fresh)
            }
            #expect(try await world.judge(site).code == 0)
        }
    }

    @Test func `lets a sender finish who goes on, and answers`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let file = try await world.token(for: site)
            let token = try read(file).trimmingCharacters(in: .whitespacesAndNewlines)
            // Longer than the test waits for its end.
            let printed = try await stop(site, in: world, token: token, then: "finish", stopWithin: "10m")
            let words = printed.split(whereSeparator: \.isWhitespace).map(String.init)
            #expect(printed.hasSuffix(#"answered HTTP/1.1 200 OK {"offset":\#(words[3])}"#), "\(printed)")
            let blob = site.appending("uploads/\(Workshop.app)/\(words[1])/blobs/\(words[2])")
            #expect(FileManager.default.fileExists(atPath: blob.string))
        }
    }
}
