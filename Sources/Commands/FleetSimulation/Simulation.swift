import PatchTrust
package import PatchChoice
package import PatchFormat
import PatchCrypto

/// Simulates the effect of a list and a dial on a fleet, with the same decision functions as real devices.
///
/// Devices of one kind differ only in their cohort numbers, which follow from their secret ids. So the numbers are computed for
/// each device, but a decision is made only once for each set of answers to "is it below this share".
package struct Simulation: Sendable {
    package let entries: [PatchEntry]
    package let withdrawn: [PatchID: Set<SHA256Digest>]
    package let dial: Dial?
    package let fleet: Fleet
    package let seed: UInt64
    package let time: UTCTime
    /// Versions that only some devices of a kind receive, depending on their numbers.
    private let shared: [(salt: [UInt8], rollout: Int)]
    private let selections: [Selection?]
    /// The number of answers that fit into one word.
    ///
    /// With more versions, every device is decided separately.
    private static let mostShared = 64
    private static let chunk = 20_000

    package init(
        _ entries: [PatchEntry],
        withdrawn: [PatchID: Set<SHA256Digest>] = [:],
        dial: Dial?,
        fleet: Fleet,
        seed: UInt64,
        time: UTCTime
    ) {
        (self.entries, self.withdrawn, self.dial) = (entries, withdrawn, dial)
        (self.fleet, self.seed, self.time) = (fleet, seed, time)
        let rows = Dictionary((dial?.rows ?? []).map { (PatchContent(patchID: $0.patchID, sha256: $0.sha256), $0) }) {
            first,
            _ in first
        }
        shared = entries.compactMap { entry in
            let rollout = min(entry.rules.rollout, rows[entry.content]?.rollout ?? 10_000)
            return (1..<10_000).contains(rollout) ? (entry.salt, rollout) : nil
        }
        selections = fleet.kinds.map { Self.selection($0.installed, entries) }
    }

    /// The secret id of a device, from its index in the fleet.
    package func deviceID(_ index: Int) -> [UInt8] {
        let first = Self.mixed(seed &+ Self.mixed(UInt64(index) &* 2))
        let second = Self.mixed(seed &+ Self.mixed(UInt64(index) &* 2 &+ 1))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        for word in [first, second] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        return bytes
    }

    /// The mixing function of SplitMix64.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var z = value &+ 0x9E37_79B9_7F4A_7C15
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }

    /// - Parameter devices: At most 2^31.
    package func run(devices: Int) async -> SimulationResult {
        var result = SimulationResult(devices: devices, seed: seed, entries: entries, fleet: fleet)
        var places = Dictionary(
            (dial?.rows ?? []).compactMap { row in
                row.headcount.map { (PatchContent(patchID: row.patchID, sha256: row.sha256), $0) }
            }
        ) { first, _ in first }
        var start = 0
        for (kind, count) in fleet.counts(of: devices).enumerated() {
            // In the order of the answers, so that the same seed assigns the same places.
            for (_, group) in await groups(start..<(start + count)).sorted(by: { $0.key < $1.key }) {
                add(group, of: kind, to: &result, &places)
            }
            start += count
        }
        return result
    }

    /// Devices with the same decision.
    private struct Group {
        let first: Int
        var count: Int
    }

    private func groups(_ devices: Range<Int>) async -> [UInt64: Group] {
        guard !devices.isEmpty else { return [:] }
        guard !shared.isEmpty else { return [0: Group(first: devices.lowerBound, count: devices.count)] }
        guard shared.count <= Self.mostShared else {
            return Dictionary(uniqueKeysWithValues: devices.map { (UInt64($0), Group(first: $0, count: 1)) })
        }
        let chunks = stride(from: devices.lowerBound, to: devices.upperBound, by: Self.chunk)
        return await withTaskGroup(of: [UInt64: Group].self) { tasks in
            for start in chunks {
                tasks.addTask { groupsOfChunk(start..<min(start + Self.chunk, devices.upperBound)) }
            }
            var all: [UInt64: Group] = [:]
            for await some in tasks {
                all.merge(some) { Group(first: min($0.first, $1.first), count: $0.count + $1.count) }
            }
            return all
        }
    }

    private func groupsOfChunk(_ devices: Range<Int>) -> [UInt64: Group] {
        var groups: [UInt64: Group] = [:]
        for index in devices {
            let id = deviceID(index)
            var answers: UInt64 = 0
            for (bit, version) in shared.enumerated()
            where Cohort(salt: version.salt, deviceID: id).number < version.rollout {
                answers |= 1 << UInt64(bit)
            }
            groups[answers, default: Group(first: index, count: 0)].count += 1
        }
        return groups
    }

    private func add(
        _ group: Group,
        of kind: Int,
        to result: inout SimulationResult,
        _ places: inout [PatchContent: Int]
    ) {
        let taken = decided(group.first, of: kind, mayAsk: true)
        let wanted = taken.choice.decisions.compactMap { decision in
            if case .take(let entry, over: _) = decision.choice { entry.content } else { nil }
        }.filter { places[$0] != nil }
        // The first devices receive the places. A device without a place for a version does not take it.
        let given = wanted.reduce(group.count) { min($0, places[$1] ?? 0) }
        for content in wanted { places[content, default: 0] -= given }
        if given > 0 { result.add(taken.explanation, taken.choice, times: given) }
        guard given < group.count else { return }
        let without = decided(group.first, of: kind, mayAsk: false)
        result.add(without.explanation, without.choice, times: group.count - given)
    }

    /// Returns the outcome of each version on one device, in the form of `patchsync explain`.
    package func explanation(ofDevice index: Int, of kind: Int) -> Explanation {
        decided(index, of: kind, mayAsk: true).explanation
    }

    private func decided(
        _ index: Int,
        of kind: Int,
        mayAsk: Bool
    ) -> (explanation: Explanation, choice: ListChoice) {
        let facts = fleet.kinds[kind]
        var context = EligibilityContext(
            device: DeviceFacts(
                deviceID: deviceID(index),
                appVersion: facts.appVersion,
                user: facts.user,
                data: facts.data,
                platform: facts.platform,
                time: time,
                consent: facts.consent
            ),
            dial: dial
        )
        context.answers.questionsLeft = mayAsk ? 1 : 0
        let machine = SelectionMachine(state: .resting(selections[kind]))
        let choice = ListChoice(entries, withdrawn: withdrawn, machine: machine, under: context)
        let explanation = Explanation(
            entries,
            roleVersion: 1,
            decisions: choice.decisions,
            base: choice.base,
            under: choice.context
        )
        return (explanation, choice)
    }

    /// Returns the installed versions of a kind of devices.
    ///
    /// Versions that are not listed are replaced by made-up entries.
    private static func selection(_ installed: [PatchID: VersionLabel], _ entries: [PatchEntry]) -> Selection? {
        guard !installed.isEmpty else { return nil }
        let patches = installed.sorted { $0.key < $1.key }.map { id, version in
            let listed = entries.first { $0.patchID == id && $0.version == version }
            return InstalledPatch(listed ?? madeUp(id, version, entries), column: nil)
        }
        return Selection(number: 1, roleVersion: 1, patches: patches, entryKeys: .none)
    }

    private static func madeUp(_ id: PatchID, _ version: VersionLabel, _ entries: [PatchEntry]) -> PatchEntry {
        let fingerprint = Fingerprint(of: Array("unlisted:\(id):\(version)".utf8))
        return PatchEntry(
            patchID: id,
            kind: entries.first { $0.patchID == id }?.kind ?? .bundle,
            version: version,
            url: "",
            fingerprint: fingerprint,
            signature: EntrySignature(keyID: fingerprint.sha256, bytes: []),
            salt: [],
            rules: .everyone
        )
    }
}
