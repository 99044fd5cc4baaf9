import SystemPackage
import Testing

/// Row J14: what an operator tells running apps by name, by the programs and over the API.
@Suite("Online parameters")
struct ParametersTests {
    private static let path = "/apps/\(Workshop.app)/channels/production/parameters"

    private func parameters(_ site: FilePath, _ command: String, _ more: String...) async throws -> Outcome {
        try await run(.patchsrv, ["parameters", command, "--data", site.string, "--channel", "production"] + more)
    }

    private func put(_ fixture: ServiceFixture, _ body: String, token: String) async throws -> (Int, String) {
        try await fixture.ask("PUT", Self.path, token: token, "-H", "Content-Type: application/json", "-d", body)
    }

    @Test func `go from the API to a device, its command and its open page, and the last good ones stay`() async throws
    {
        try await ServiceFixture.with { fixture in
            let (boss, guest) = (
                try await fixture.token("\(Workshop.app)=operator"), try await fixture.token("\(Workshop.app)=viewer")
            )
            let device = try await fixture.world.settledDevice(server: fixture.devices)
            #expect(try await device("parameters").done().output == "\(Workshop.app) production: no parameters\n")

            let sale = #"{"parameters":{"banner":"Sale","cart.limit":20,"checkout":true}}"#
            #expect(try await put(fixture, sale, token: guest).0 == 403)
            let (status, done) = try await put(fixture, sale, token: boss)
            #expect(status == 200 && done.contains(#""outcome":"changed""#), "\(done)")
            let tag = try #require(done.firstMatch(of: #/"tag":"([0-9a-f]{64})"/#)?.1)
            let (_, shown) = try await fixture.ask("GET", Self.path, token: guest)
            #expect(shown.contains(tag) && shown.contains(#""cart.limit":20"#), "\(shown)")

            try await device.serving(["--parameters-every", "1"]) { page in
                _ = try await page.program.line(with: "parameters: 3 of production")
                let answer = try await page.get("/__patchline/parameters", "-i")
                #expect(
                    answer.body.hasSuffix(
                        #"{"channel":"production","parameters":{"banner":"Sale","cart.limit":20,"checkout":true}}"#
                    )
                )
                let entity = try #require(answer.body.firstMatch(of: #/(?i)etag: ("[0-9a-f]{64}")/#)?.1)
                let again = try await page.get("/__patchline/parameters", "-H", "If-None-Match: \(entity)")
                #expect(again.status == 304)

                let stale = #"{"parameters":{},"expect":"\#(String(repeating: "0", count: 64))"}"#
                let late = try await put(fixture, stale, token: boss)
                #expect(late.0 == 409 && late.1.contains(#""rule":"expect""#), "\(late)")
                let bad = try await put(fixture, #"{"parameters":{"x":null}}"#, token: boss)
                #expect(bad.0 == 400 && bad.1.contains("body: parameters.x must be a string"), "\(bad)")
                let next = #"{"parameters":{"banner":"Over"},"expect":"\#(tag)"}"#
                #expect(try await put(fixture, next, token: boss).0 == 200)
                _ = try await page.program.line(with: "parameters: 1 of production")
            }
            let reported = try await device("parameters").done()
            #expect(reported.output.contains(#/banner +text +Over\n/#), "\(reported)")
            try device.ask("http://127.0.0.1:9")
            _ = try await device.sync()
            #expect(
                try await device("parameters", "--json").done().output
                    == #"{"app":"\#(Workshop.app)","channel":"production","parameters":{"banner":"Over"}}"# + "\n"
            )
        }
    }

    @Test func `are set, unset and replaced by command, refused in words, and told to scripts by exit code`()
        async throws
    {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            #expect(try await parameters(site, "show").done().output.contains("no parameters"))
            let set = try await parameters(site, "set", "n=-7", "on=true", "s=Sale until 8", #"zip="01234""#, "eq=a=b")
                .done()
            for row in [
                #/eq +text +a=b\n/#, #/n +integer +-7\n/#, #/on +boolean +true\n/#, #/s +text +Sale until 8\n/#,
                #/zip +text +01234\n/#,
            ] { #expect(set.output.contains(row), "\(set)") }
            let again = try await parameters(site, "set", "n=-7").done()
            #expect(again.output.hasPrefix("already set; nothing was changed\n"), "\(again)")
            let unset = try await parameters(site, "unset", "n", "eq", "--json").done()
            #expect(!unset.output.contains("eq") && unset.output.contains(#""outcome": "changed""#), "\(unset)")
            let file = world.path("parameters.json")
            try write(#"{"only": 1}"#, to: file)
            let replaced = try await parameters(site, "replace", file.string).done()
            #expect(replaced.output.hasSuffix("only  integer  1\n"), "\(replaced)")

            let late = try await parameters(site, "set", "n=1", "--expect", String(repeating: "0", count: 64))
            #expect(late.code == 8 && late.errors.contains("were changed meanwhile"), "\(late)")
            try write(#"{"only": 1.5}"#, to: file)
            let malformed = try await parameters(site, "replace", file.string)
            #expect(malformed.code == 4, "\(malformed)")
            for (arguments, error) in [
                (["set", "n"], "must be NAME=VALUE"), (["set", "a b=1"], "the name 'a b' must be"),
                (["set", "n=1", "n=2"], "n is given twice"), (["set", "n=\"x"], "n must be a string"),
                (["unset", "/"], "the name '/' must be"),
                (["show", "--channel", "dial"], "'dial' is invalid for '--channel <channel>': must be"),
            ] {
                let bad = try await run(
                    .patchsrv,
                    ["parameters"] + arguments.prefix(1) + ["--data", site.string, "--channel", "production"]
                        + arguments.dropFirst()
                )
                #expect(bad.code == 64 && bad.errors.contains(error), "\(bad)")
            }
            let audit = try await run(.patchsrv, ["audit", "list", "--data", site.string, "--json"])
            #expect(audit.output.split(separator: "parameters.change").count == 4, "\(audit)")
        }
    }
}
