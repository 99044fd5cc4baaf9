import ArgumentParser
package import PatchFormat

/// The initial rollout of versions that a release lists for the first time: for `patchsign push` and `patchsrv publish`.
package struct StartingRolloutOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The share of devices for the new versions, or for one patch's: 10%, web=10%. Repeatable. Default: the "
                + "channel's, else all that the release allows.",
            valueName: "[patch=]share"
        ),
        transform: SharePart.init(_:)
    )
    private var rollout: [SharePart] = []

    @Flag(help: "Publish the new versions paused: no device installs them until `patchsrv rollout` starts them.")
    private var paused = false

    @Option(
        help: ArgumentHelp(
            "Raise the share of the new versions, or of one patch's, in steps: 1%,5%,25%,100%. Needs --every.",
            valueName: "[patch=]shares"
        ),
        transform: RampPart.init(_:)
    )
    private var ramp: [RampPart] = []

    @Option(help: ArgumentHelp("The time between two steps of --ramp, such as 6h or 1d.", valueName: "time"))
    private var every: DurationArgument?

    /// The warning for a release that is already published: its rollout continues unchanged.
    package static let tooLate =
        "it was published before, so --rollout, --paused and --ramp changed nothing; patchsrv rollout shows and sets the share"

    package init() {}

    package func validate() throws {
        if let fault = Self.fault(rollout, paused: paused, ramp, every: every?.duration) {
            throw ValidationError(fault)
        }
    }

    /// The requested start of the rollout, or nil if no option sets it.
    package var wish: StartingRollout? {
        Self.wish(rollout, paused: paused, ramp, every: every?.duration)
    }

    /// Returns why the options cannot be combined, or nil if they can.
    static func fault(_ shares: [SharePart], paused: Bool, _ ramps: [RampPart], every: Duration?) -> String? {
        let named = shares.map(\.patch) + ramps.map(\.patch)
        if Set(named).count < named.count { return "--rollout and --ramp accept each patch only once" }
        if paused, !ramps.isEmpty {
            return "--paused and --ramp exclude each other: a schedule begins with its first share"
        }
        if let fault = RampPart.fault(ramps.isEmpty, every: every) { return fault }
        guard let every, ramps.contains(where: { $0.ramp(every: every) == nil }) else { return nil }
        return RolloutRamp.intervals.contains(Int(clamping: every.components.seconds))
            ? "--ramp \(RolloutRamp.stepsRule)" : "--every \(RolloutRamp.intervalRule)"
    }

    static func wish(
        _ shares: [SharePart],
        paused: Bool,
        _ ramps: [RampPart],
        every: Duration?
    ) -> StartingRollout? {
        var all: StartingRollout.Start? = paused ? .paused(at: nil) : nil
        var patches: [PatchID: StartingRollout.Start] = [:]
        func set(_ start: StartingRollout.Start, of patch: PatchID?) {
            if let patch { patches[patch] = start } else { all = start }
        }
        for part in shares { set(paused ? .paused(at: part.share) : .share(part.share), of: part.patch) }
        for part in ramps {
            if let ramp = every.flatMap({ part.ramp(every: $0) }) { set(.ramp(ramp), of: part.patch) }
        }
        return StartingRollout(all: all, patches: patches)
    }
}

/// A share for all versions or for one: `10%`, `web=10%`.
package struct SharePart: Hashable, Sendable {
    package let patch: PatchID?
    package let share: Int

    package init(_ text: String) throws {
        let (patch, rest) = try PatchPrefix.split(text)
        do throws(RolloutShareMisread) {
            share = try RolloutShare(written: rest).tenThousandths
        } catch { throw ValidationError("\(error)") }
        self.patch = patch
    }
}

/// A ramp for all versions or for one: `1%,5%,100%`, `web=1%,5%,100%`.
package struct RampPart: Hashable, Sendable {
    package let patch: PatchID?
    package let steps: [Int]

    package init(_ text: String) throws {
        let (patch, rest) = try PatchPrefix.split(text)
        guard let steps = RolloutRamp.steps(rest) else { throw ValidationError(RolloutRamp.stepsRule) }
        (self.patch, self.steps) = (patch, steps)
    }

    package func ramp(every: Duration) -> RolloutRamp? {
        RolloutRamp(steps: steps, every: Int(clamping: every.components.seconds))
    }

    /// Returns why `--ramp` and `--every` cannot be combined.
    package static func fault(_ hasNone: Bool, every: Duration?) -> String? {
        switch (hasNone, every) {
        case (false, nil): "--ramp needs --every, the time between two steps: --every 6h"
        case (true, _?): "--every needs --ramp: --ramp 1%,5%,25%,100%"
        case (false, _?), (true, nil): nil
        }
    }
}

private enum PatchPrefix {
    static func split(_ text: String) throws -> (PatchID?, String) {
        guard let mark = text.firstIndex(of: "=") else { return (nil, text) }
        guard let patch = PatchID(String(text[..<mark])) else { throw ValidationError("the patch \(PatchID.rule)") }
        return (patch, String(text[text.index(after: mark)...]))
    }
}
