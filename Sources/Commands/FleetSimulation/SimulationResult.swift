import PatchChoice
package import PatchFormat

/// How many devices get which version, and why the others do not.
package struct SimulationResult: Equatable, Sendable {
    /// One listed version.
    package struct Row: Equatable, Sendable {
        package let label: Label
        package let kind: PatchKind
        package let sha256: SHA256Digest
        /// Devices by what becomes of it on them: the codes of `patchsync explain`.
        package fileprivate(set) var outcomes: [String: Int] = [:]
        /// Of those that it is not for, by the first rule that says no.
        package fileprivate(set) var reasons: [String: Int] = [:]

        /// Devices that take it.
        package var takers: Int { outcomes["taken", default: 0] }
        /// Devices that have it, and keep it.
        package var keepers: Int { outcomes["installed", default: 0] }
    }

    /// What the devices run of one patch; nil for nothing.
    package struct Patch: Equatable, Sendable {
        package let id: PatchID
        package fileprivate(set) var before: [VersionLabel?: Int] = [:]
        package fileprivate(set) var after: [VersionLabel?: Int] = [:]
    }

    package let devices: Int
    package let seed: UInt64
    /// In list order.
    package private(set) var rows: [Row]
    /// By id.
    package private(set) var patches: [Patch]

    /// - Parameter fleet: has what is listed, and what is not.
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

    /// The most frequent first, nothing last.
    package static func ordered(_ counts: [VersionLabel?: Int]) -> [(version: VersionLabel?, devices: Int)] {
        counts.sorted { left, right in
            if (left.key == nil) != (right.key == nil) { return right.key == nil }
            return (right.value, left.key?.text ?? "") < (left.value, right.key?.text ?? "")
        }.map { ($0.key, $0.value) }
    }
}
