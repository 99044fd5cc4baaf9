import ArgumentParser
import PatchFormat
import Testing

@testable import CommandKit

@Suite("What push and publish are told of a rollout")
struct StartingRolloutOptionsTests {
    private func wish(_ arguments: String...) throws -> StartingRollout? {
        try StartingRolloutOptions.parse(arguments).wish
    }

    private var web: PatchID {
        get throws { try #require(PatchID("web")) }
    }

    @Test func `is nothing, a share, a pause or a schedule`() throws {
        #expect(try wish() == nil)
        #expect(try wish("--rollout", "10%") == StartingRollout(all: .share(1_000)))
        #expect(try wish("--rollout", "web=10%") == StartingRollout(all: nil, patches: [web: .share(1_000)]))
        #expect(try wish("--paused") == StartingRollout(all: .paused(at: nil)))
        #expect(
            try wish("--paused", "--rollout", "web=10%")
                == StartingRollout(all: .paused(at: nil), patches: [web: .paused(at: 1_000)])
        )
        let ramp = try #require(RolloutRamp(steps: [100, 10_000], every: 21_600))
        #expect(try wish("--ramp", "1%,100%", "--every", "6h") == StartingRollout(all: .ramp(ramp)))
        #expect(
            try wish("--rollout", "10%", "--ramp", "web=1%,100%", "--every", "6h")
                == StartingRollout(all: .share(1_000), patches: [web: .ramp(ramp)])
        )
    }

    @Test(arguments: [
        (["--rollout", "10%", "--rollout", "5%"], "--rollout and --ramp accept each patch only once"),
        (["--rollout", "10%", "--ramp", "1%", "--every", "6h"], "--rollout and --ramp accept each patch only once"),
        (
            ["--paused", "--ramp", "1%", "--every", "6h"],
            "--paused and --ramp exclude each other: a schedule begins with its first share"
        ),
        (["--ramp", "1%,2%"], "--ramp needs --every, the time between two steps: --every 6h"),
        (["--every", "6h"], "--every needs --ramp: --ramp 1%,5%,25%,100%"),
        (
            ["--ramp", "5%,1%", "--every", "6h"],
            "--ramp must be 1 to 50 rising shares with commas, such as 1%,5%,25%,100%"
        ),
        (["--ramp", "1%,2%", "--every", "5s"], "--every must be from 1m to 60d"),
        (["--rollout", "10"], "10 is not a share: write 10%"),
    ])
    func `is refused where it says two things, or half of one`(_ arguments: [String], _ words: String) {
        var message: String?
        do { _ = try StartingRolloutOptions.parse(arguments) } catch {
            message = StartingRolloutOptions.message(for: error)
        }
        #expect(message?.contains(words) == true, "\(message ?? "taken")")
    }
}
