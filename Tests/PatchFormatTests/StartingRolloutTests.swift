import PatchFormat
import PatchTesting
import Testing

@Suite("How a release begins")
struct StartingRolloutTests {
    private func read(_ text: String) throws(FormatError) -> StartingRollout {
        try StartingRollout(Fields(try JSON.document(Array(text.utf8), named: "body", limit: 10_000), of: "body"))
    }

    private func rule(_ text: String) -> String? {
        do throws(FormatError) { _ = try read(text) } catch { return error.rule }
        return nil
    }

    @Test
    func `is a share, a pause or a schedule, for all new versions or those of a patch, and is written the same way`()
        throws
    {
        let ramp = try #require(RolloutRamp(steps: [100, 500, 10_000], every: 21_600))
        let web = try #require(PatchID("web")), fix = try #require(PatchID("fix"))
        let wish = try #require(
            StartingRollout(all: .share(1_000), patches: [web: .ramp(ramp), fix: .paused(at: 250)])
        )
        let text = """
            {"all":{"rollout":1000},"patches":{"fix":{"paused":true,"rollout":250},\
            "web":{"ramp":{"every":21600,"steps":[100,500,10000]}}}}
            """
        #expect(String(decoding: wish.json.canonicalBytes, as: UTF8.self) == text)
        #expect(try read(text) == wish)
        #expect(wish.start(of: web) == .ramp(ramp))
        #expect(try wish.start(of: #require(PatchID("tip"))) == .share(1_000))
        #expect(try read(#"{"all":{"paused":true}}"#) == StartingRollout(all: .paused(at: nil)))
        #expect(StartingRollout(all: nil) == nil)
    }

    @Test(arguments: [
        (#"{}"#, "or patches must hold a share, a pause or a ramp"),
        (#"{"patches":{}}"#, "or patches must hold a share, a pause or a ramp"),
        (#"{"all":{}}"#, "is required, or paused, or ramp"),
        (#"{"all":{"paused":false}}"#, "is required, or paused, or ramp"),
        (
            #"{"all":{"ramp":{"steps":[1],"every":60},"rollout":1}}"#,
            "begins with its own first share and excludes rollout and paused"
        ),
        (
            #"{"all":{"ramp":{"steps":[2,1],"every":60}}}"#,
            "must be 1 to 50 rising shares with commas, such as 1%,5%,25%,100%"
        ),
        (
            #"{"all":{"ramp":{"steps":[],"every":60}}}"#,
            "must be 1 to 50 rising shares with commas, such as 1%,5%,25%,100%"
        ),
    ])
    func `is refused where it says nothing, or two things`(_ text: String, _ expected: String) {
        #expect(rule(text) == expected)
    }

    @Test func `has a share of at most all devices, and a known patch's name`() {
        #expect(rule(#"{"all":{"rollout":10001}}"#) != nil && rule(#"{"all":{"rollout":-1}}"#) != nil)
        #expect(rule(#"{"patches":{"../web":{"rollout":1}}}"#) == PatchID.rule)
    }
}

@Suite("A schedule of rising shares")
struct RolloutRampTests {
    @Test func `is written with commas, and read with blanks`() {
        #expect(RolloutRamp.steps("1%,5%,25%,100%") == [100, 500, 2_500, 10_000])
        #expect(RolloutRamp.steps("0.5 %, 100%") == [50, 10_000])
        for bad in ["", "1%,", "1,5", "1%;5%", "101%"] { #expect(RolloutRamp.steps(bad) == nil, "\(bad)") }
    }

    @Test func `rises, in steps of a minute at least and 60 days at most`() {
        #expect(RolloutRamp(steps: [1, 2], every: 60)?.last == 2)
        for (steps, every) in [
            ([], 60), ([1, 1], 60), ([2, 1], 60), ([0], 60), ([10_001], 60), ([1], 59), ([1], 5_184_001),
        ] {
            #expect(RolloutRamp(steps: steps, every: every) == nil, "\(steps) \(every)")
        }
        #expect(
            RolloutRamp(steps: Array(1...50), every: 60) != nil && RolloutRamp(steps: Array(1...51), every: 60) == nil
        )
    }

    @Test func `says its interval as people write it`() {
        let texts = [60, 5_400, 21_600, 86_400, 61].map { RolloutRamp(steps: [1], every: $0)?.everyText }
        #expect(texts == ["1m", "90m", "6h", "1d", "61s"])
    }
}
