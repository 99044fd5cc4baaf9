import DeviceTesting
import PatchChoice
import PatchFormat
@testable import PatchSync
import PatchTesting
import PatchCrypto
import PatchTrust

/// A random list, dial and device of few names, so that everything meets everything, and what this engine makes of them.
struct RandomExplanation {
    private static let ids = ["a", "b", "c"]
    private static let conditions = ["region==eu", "region!=eu&&level>=3", "level<2||tester==1", "x=y"]
    private static let ranges = [">=2", ">=1.5 <3", "!=2", "<=1", "=2.0"]
    private static let advisory = try? SecurityAdvisory(Fields(.fields([("text", .text("a hole"))]), of: "test"))
    private static let users = ["u1", "u2", "u3"]

    private var random: SeededGenerator
    private let now = ManualClock.start

    init(seed: UInt64) { random = SeededGenerator(state: seed) }

    /// A list, a dial, and so many devices, for each of which every version is explained.
    mutating func next(devices: Int) throws -> JSON {
        let entries = Self.ids.flatMap { id in
            (1...4).reversed().compactMap { version in oneIn(5) ? nil : entry(id, version) }
        }
        let dial = oneIn(2) ? nil : dial(over: entries)
        let rows = try (0..<devices).map { _ in try explained(device(beside: entries), entries, dial) }
        return .fields([
            ("entries", .array(entries.map(Self.short))), ("dial", dial?.json), ("devices", .array(rows)),
        ])
    }

    private func explained(_ device: JSON, _ entries: [PatchEntry], _ dial: Dial?) throws -> JSON {
        let told = try DescribedDevice(device.canonicalBytes, named: "facts")
        let state = try told.state(under: entries, roleVersion: 1)
        var context = EligibilityContext(state, device: told.facts(at: now), dial: dial)
        let base = state.machine.state.choiceBase
        context.exemption.isFirst = base == nil
        let ids = Set(entries.map(\.patchID)).union(base?.patches.map(\.patchID) ?? []).sorted()
        let candidates = ids.map { id in
            Candidates(id, versions: entries.filter { $0.patchID == id }, current: base?[id], under: context)
        }
        let decisions = AnsweredChoice(candidates, under: context).decisions
        let answer = Explanation(entries, roleVersion: 1, decisions: decisions, base: base, under: context)
        return .fields([
            ("facts", device), ("at", .text(now.description)), ("versions", .array(answer.versions.map(\.json))),
        ])
    }

    private mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func one<T>(of values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }

    private mutating func entry(_ id: String, _ version: Int) -> PatchEntry {
        let salt = UInt8.random(in: 0...255, using: &random)
        var rules = PatchRules.everyone
        if oneIn(3) { rules.rollout = Int.random(in: 0...10_000, using: &random) }
        if oneIn(5) { rules.appVersion = AppVersionRange(one(of: Self.ranges)) }
        if oneIn(5) { rules.condition = one(of: Self.conditions) }
        if oneIn(8) {
            let salt = [UInt8](repeating: salt, count: 16)
            rules.users = [UserID(one(of: Self.users))].compactMap { $0?.hash(salt: salt) }
        }
        if oneIn(6) { rules.dial = .required }
        if oneIn(20) { rules.unknown = ["moonPhase"] }
        var requires: [PatchID: [SHA256Digest]] = [:]
        if oneIn(3) {
            let other = one(of: Self.ids)
            if other != id {
                let version = Int.random(in: 1...4, using: &random)
                requires[name(other)] = [
                    DeviceTesting.entry(other, "\(version)").fingerprint.sha256,
                    DeviceTesting.entry(other, "\(max(1, version - 1))").fingerprint.sha256,
                ]
            }
        }
        let security = oneIn(4) ? Self.advisory : nil
        return DeviceTesting.entry(
            id,
            "\(version)",
            rules: rules,
            salt: salt,
            requires: requires,
            security: security
        )
    }

    private mutating func dial(over entries: [PatchEntry]) -> Dial {
        var rows: [Dial.Row] = []
        for entry in entries where oneIn(3) {
            rows.append(
                Dial.Row(
                    patchID: entry.patchID,
                    sha256: entry.fingerprint.sha256,
                    rollout: oneIn(2) ? 10_000 : Int.random(in: 0...10_000, using: &random),
                    paused: oneIn(5),
                    reason: nil,
                    headcount: oneIn(4) ? 5 : nil
                )
            )
        }
        return Dial(app: name("app"), channel: name("production"), rows: rows)
    }

    /// As `explain --facts` writes it.
    private mutating func device(beside entries: [PatchEntry]) -> JSON {
        var installed: [JSON] = []
        for id in Self.ids where !oneIn(3) {
            // Now and then one whose label is listed with other bytes.
            let version = "\(Int.random(in: 1...4, using: &random))"
            let patch = InstalledPatch(
                DeviceTesting.entry(id, version, bytes: oneIn(8) ? "other" : nil),
                column: nil
            )
            installed.append(patch.json)
        }
        var (blocks, transfers, unfit) = (TrialBlocks(), TransferFailures(), UnfitVersions())
        let platform = oneIn(2) ? nil : Platform(name: "ios", compatibility: one(of: ["aa", "bb"]))
        var places: [JSON] = []
        var approved = ApprovedVersions()
        let consent = one(of: [Consent.automatic, .automatic, .security, .ask])
        let deviceID = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        for entry in entries {
            if oneIn(8) {
                // Some of it is over.
                let time = now.adding(.seconds(-Int.random(in: 0...7_200, using: &random)))
                let patch = InstalledPatch(entry, column: nil)
                for _ in 0...(oneIn(2) ? 1 : 0) { blocks.fail([patch], because: .timer, at: time) }
                if oneIn(4) { blocks.fail([patch], because: .person, at: time) }
            }
            if oneIn(10) {
                let time = now.adding(.seconds(-Int.random(in: 0...7_200, using: &random)))
                for _ in 0..<(oneIn(2) ? 3 : 2) {
                    transfers.fail(
                        entry.content,
                        version: entry.version,
                        because: .content,
                        movedForward: false,
                        at: time
                    )
                }
            }
            if let platform, oneIn(12) {
                let needs = oneIn(2) ? nil : "cc"
                unfit.add(entry.content, .init(version: entry.version, platform: platform, needs: needs))
            }
            if oneIn(3) { approved.add(entry.content, entry.version) }
            if oneIn(2) { places.append(.text(entry.placeName(of: deviceID).hex)) }
        }
        let data = [("region", oneIn(2) ? "eu" : "us"), ("level", "\(Int.random(in: 1...4, using: &random))")]
        return .fields([
            ("format", .text(DescribedDevice.format)), ("deviceId", .text(Hex.text(deviceID))),
            ("appVersion", oneIn(4) ? nil : .text(one(of: ["1", "1.5", "2", "2.0.0", "3"]))),
            ("user", oneIn(3) ? nil : .text(one(of: Self.users))),
            ("data", oneIn(3) ? nil : .fields(data.map { ($0, .text($1)) })), ("platform", platform?.json),
            ("installed", .array(installed)), ("blocks", blocks.json), ("transfers", transfers.json),
            ("unfit", unfit.json), ("places", .array(places)), ("approved", approved.json),
            ("consent", consent == .automatic ? nil : .text(consent.rawValue)),
        ])
    }

    /// What a choice looks at.
    private static func short(_ entry: PatchEntry) -> JSON {
        let requires = entry.requires.sorted { $0.key < $1.key }
            .map { ($0.key.text, Optional(JSON.array($0.value.map { .text($0.hex) }))) }
        return .fields([
            ("patchId", .text(entry.patchID.text)), ("version", .text(entry.version.text)),
            ("sha256", .text(entry.fingerprint.sha256.hex)), ("salt", .text(Hex.text(entry.salt))),
            ("requires", .fields(requires)), ("rules", entry.rules.json),
            ("security", entry.security?.json), ("unknown", .array(entry.rules.unknown.map { .text($0) })),
        ])
    }
}
