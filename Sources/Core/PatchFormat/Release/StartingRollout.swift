/// The initial rollout of a release: the share of devices that may install its new versions.
///
/// The signed release does not contain it. The server applies it to the dial in the step that publishes the release.
///
/// ```
/// { "all": { "rollout": 1000 }, "patches": { "web": { "ramp": { "steps": [100, 10000], "every": 21600 } } } }
/// ```
package struct StartingRollout: Hashable, Sendable {
    package enum Start: Hashable, Sendable {
        /// This share, in devices of 10,000.
        case share(Int)
        /// Paused, with this share once it is resumed. Nil for the channel's default, or the signed ceiling.
        case paused(at: Int?)
        /// The schedule's first share now, and the others later.
        case ramp(RolloutRamp)
    }

    /// The start of every new version that `patches` does not name, or nil for the channel's default.
    package let all: Start?
    /// The start of the new versions of each of these patches.
    package let patches: [PatchID: Start]

    /// Nil if neither the release nor any patch has a start.
    package init?(all: Start?, patches: [PatchID: Start] = [:]) {
        guard all != nil || !patches.isEmpty else { return nil }
        (self.all, self.patches) = (all, patches)
    }

    package func start(of patch: PatchID) -> Start? { patches[patch] ?? all }
}

extension StartingRollout {
    package init(_ fields: Fields) throws(FormatError) {
        var patches: [PatchID: Start] = [:]
        if fields.has("patches") {
            let members = try fields.members(of: "patches", limit: Limits.patchesInList)
            for member in members.object.members {
                guard let id = PatchID(member.key.text) else { throw members.broken(member.key.text, PatchID.rule) }
                patches[id] = try Start(try members.fields(of: member))
            }
        }
        let all = fields.has("all") ? try Start(try fields.fields("all")) : nil
        guard let start = StartingRollout(all: all, patches: patches) else {
            throw fields.broken("all", "or patches must hold a share, a pause or a ramp")
        }
        self = start
    }

    package var json: JSON {
        let rows = patches.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.json) }
        return .fields([
            ("all", all?.json), ("patches", rows.isEmpty ? nil : .object(JSONObject(rows))),
        ])
    }
}

extension StartingRollout.Start {
    package init(_ fields: Fields) throws(FormatError) {
        if fields.has("ramp") {
            guard !fields.has("rollout"), !fields.has("paused") else {
                throw fields.broken("ramp", "begins with its own first share and excludes rollout and paused")
            }
            self = .ramp(try RolloutRamp(try fields.fields("ramp")))
            return
        }
        let share = fields.has("rollout") ? try fields.integer("rollout", in: 0...10_000) : nil
        if try fields.bool("paused", default: false) {
            self = .paused(at: share)
        } else if let share {
            self = .share(share)
        } else {
            throw fields.broken("rollout", "is required, or paused, or ramp")
        }
    }

    package var json: JSON {
        switch self {
        case .share(let share): .fields([("rollout", .integer(share))])
        case .paused(let share): .fields([("rollout", share.map { .integer($0) }), ("paused", .bool(true))])
        case .ramp(let ramp): .fields([("ramp", ramp.json)])
        }
    }
}
