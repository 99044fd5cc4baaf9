import Foundation
import SystemPackage
import Testing

/// Decided: a version that is withdrawn by name is final.
@Suite("A version that is withdrawn by name, end to end")
struct WithdrawnVersionTests {
    @Test func `is taken back where nothing that is listed runs, and comes back by no later release`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            try await serving(site) { url in
                let device = try await world.settledDevice(server: url)
                try await device.sync().done()
                try await device.serving { try await $0.confirm() }
                try await device.expectWhole(2)

                // Version 3 is for nobody yet, so that no listed version runs here.
                try await copy(world.shop.source(3), to: world.path("source"))
                let description = try read(world.path("source/release.yaml"))
                    .replacing("version: 3.0.0,", with: "version: 3.0.0, keep: 0, rules: {rollout: 0},")
                try write(description, to: world.path("source/release.yaml"))
                try await world.release(world.path("source"), to: "three", previous: world.shop.release(2)).done()
                let keys = ["--keys", world.shop.keys.string]
                let withdraw = [
                    "withdraw", "web", "--version", "2.0.0", "--previous", world.path("three").string, "--output",
                    world.path("four").string,
                ]
                try await run(.patchsign, withdraw + keys).done()
                let shown = try await world.sign(
                    "inspect",
                    world.path("four").string,
                    "--previous",
                    world.path("three").string
                ).done()
                #expect(shown.output.contains("- web 2.0.0 is withdrawn for good; devices that run it"), "\(shown)")
                let rows = try await world.sign("inspect", world.path("four").string, "--json").done().json()
                let row = ((rows["release"] as? [String: Any])?["withdrawn"] as? [[String: Any]])?.first
                #expect(row?["version"] as? String == "2.0.0" && row?["serial"] as? Int == 4, "\(rows)")

                for release in ["three", "four"] {
                    try await world.publish(world.path(release), to: site).done()
                }
                #expect(try await world.judge(site).code == 0, "a reader that knows nothing of it reads it whole")
                let sync = try await device.sync().done()
                #expect(sync.output.contains("web 2.0.0: withdrawn; returns to 1.0.0 at the next launch"), "\(sync)")
                let again = try await device.sync(["--json"]).done()
                #expect(again.output.contains(#""goesBackTo":"1.0.0""#), "\(again)")
                let status = try await device("status").done()
                #expect(
                    status.output.contains("\nweb 2.0.0: withdrawn; 1.0.0 replaces it at the next launch\n"),
                    "\(status)"
                )
                let leaving = try await device("status", "--json").done().json()["withdrawn"] as? [[String: Any]]
                #expect(leaving?.first?["named"] as? Bool == true && leaving?.first?["next"] as? String == "1.0.0")
                // For good, and not for one launch.
                for _ in 1...2 {
                    try await device.serving { page in
                        let index = try await page.get("/")
                        #expect(index.body.contains("release 1"), "\(index)")
                        if try await page.token() != nil { try await page.confirm() }
                    }
                    let later = try await device.sync().done()
                    #expect(!later.output.contains("withdrawn"), "\(later)")
                }

                try await copy(world.shop.source(2), to: world.path("back"))
                let back = try await world.release(world.path("back"), to: "five", previous: world.path("four"))
                #expect(back.code == 3 && back.errors.contains("web 2.0.0 was withdrawn in list 4 ("), "\(back)")
                #expect(back.errors.contains("hint: give it a new version, and a script other bytes"), "\(back)")
                #expect(!FileManager.default.fileExists(atPath: world.path("five").string))
                let mistakes = try await world.sign(
                    "release",
                    world.path("back").string,
                    "--check",
                    "--previous",
                    world.path("four").string,
                    "--keys",
                    world.shop.keys.string
                )
                #expect(mistakes.code == 4 && mistakes.output.contains("patches[2].version"), "\(mistakes)")

                let four = ["withdraw", "web@2.0.0", "--previous", world.path("four").string, "--output"]
                let twice = try await run(.patchsign, four + [world.path("six").string] + keys)
                let sentence = "nothing to do: web 2.0.0 is already withdrawn, since release 4 ("
                #expect(twice.code == 0 && twice.output.hasPrefix(sentence), "\(twice)")
                #expect(!FileManager.default.fileExists(atPath: world.path("six").string))
            }
        }
    }
}
