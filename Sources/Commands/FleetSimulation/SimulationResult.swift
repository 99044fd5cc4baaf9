import PatchChoice
package import PatchFormat

/// The number of devices that receive each version, and the reasons of the others.
package struct SimulationResult: Equatable, Sendable {
    /// One listed version.
    package struct Row: Equatable, Sendable {
        package let label: Label
        package let kind: PatchKind
        package let sha256: SHA256Digest
        /// The number of devices by outcome: the codes of `patchsync explain`.
        package fileprivate(set) var outcomes: [String: Int] = [:]
        /// The number of devices that are not eligible, by the first rule that excludes them.
        package fileprivate(set) var reasons: [String: Int] = [:]

        /// Devices that take the version.
        package var takers: Int { outcomes["taken", default: 0] }
        /// Devices that have the version and keep it.
        package var keepers: Int { outcomes["installed", default: 0] }
    }

    /// The number of devices by version of one patch.
    ///
    /// A nil version means none.
    package struct Patch: Equatable, Sendable {
        package let id: PatchID
        package fileprivate(set) var before: [VersionLabel?: Int] = [:]
        package fileprivate(set) var after: [VersionLabel?: Int] = [:]
    }

    package let devices: Int
    package let seed: UInt64
    /// The listed versions, in list order.
    package private(set) var rows: [Row]
    /// The patches, ordered by id.
    package private(set) var patches: [Patch]

    /// - Parameter fleet: May have versions that are not listed.
    init(devices: Int, seed: UInt64, entries: [PatchEntry], fleet: Fleet) {
        (self.devices, self.seed) = (devices, seed)
        let ids = Set(entries.map(\.patchID)).union(fleet.kinds.flatMap(\.installed.keys))
        patches = ids.sorted().map { Patch(id: $0) }
        rows = entries.map {
            Row(
                label: Label(patchID: $0.patchID, version: $0.version),
                kind: $0.kind,
                sha256: $0.fingerprint.sha256
            )
        }
    }

    mutating func add(_ explanation: Explanation, _ choice: ListChoice, times count: Int) {
        for (index, version) in explanation.versions.enumerated() {
            rows[index].outcomes[version.outcome.code, default: 0] += count
            guard case .passedOver(let why) = version.outcome else { continue }
            rows[index].reasons[why.code, default: 0] += count
        }
        let after = Dictionary(choice.decisions.map { ($0.patchID, $0.choice.versionAfter) }) { first, _ in first }
        for index in patches.indices {
            let id = patches[index].id
            patches[index].before[choice.base?[id]?.version, default: 0] += count
            patches[index].after[after[id] ?? nil, default: 0] += count
        }
    }

    package var json: JSON {
        .fields([
            ("devices", .integer(devices)), ("seed", .integer(Int(clamping: seed))),
            ("versions", .array(rows.map(\.json))), ("patches", .array(patches.map(\.json))),
        ])
    }
}

extension SimulationResult.Row {
    fileprivate var json: JSON {
        .fields([
            ("patchId", .text(label.patchID.text)), ("version", .text(label.version.text)),
            ("kind", .text(kind.rawValue)), ("sha256", .text(sha256.hex)), ("outcomes", counts(outcomes)),
            ("passedOver", reasons.isEmpty ? nil : counts(reasons)),
        ])
    }

    private func counts(_ counts: [String: Int]) -> JSON {
        .fields(counts.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })
    }
}

extension SimulationResult.Patch {
    fileprivate var json: JSON {
        .fields([("patchId", .text(id.text)), ("before", Self.json(before)), ("after", Self.json(after))])
    }

    private static func json(_ counts: [VersionLabel?: Int]) -> JSON {
        .array(
            ordered(counts).map { version, count in
                .fields([("version", version.map { .text($0.text) }), ("devices", .integer(count))])
            }
        )
    }

    /// Returns the counts by descending frequency, with no version last.
    package static func ordered(_ counts: [VersionLabel?: Int]) -> [(version: VersionLabel?, devices: Int)] {
        counts.sorted { left, right in
            if (left.key == nil) != (right.key == nil) { return right.key == nil }
            return (right.value, left.key?.text ?? "") < (left.value, right.key?.text ?? "")
        }.map { ($0.key, $0.value) }
    }
}
