package import PatchFormat

/// Versions that failed a trial here, and until when each is left alone.
///
/// The first failure of a (patchId, sha256): not again for an hour. From the second: blocked for 14 days.
package struct TrialBlocks: Equatable, Sendable {
    package static let firstWait = Duration.hours(1)
    package static let blockTime = Duration.days(14)
    /// No more are counted.
    private static let mostFailures = 1_000_000

    package struct Block: Equatable, Sendable {
        package let version: VersionLabel
        package let failures: Int
        package let until: UTCTime
        package let reason: Reason
        /// The first error of its pages, or the error of its script.
        package var error: PageError?
    }

    package enum Reason: String, Sendable {
        case timer = "not confirmed before the startup timer ended"
        case launches = "not confirmed in any of its launches"
        case script = "a script of it failed"
        case person = "rolled back by hand"

        /// The same in every version of this program.
        package var code: String {
            switch self {
            case .timer: "startupTimer"
            case .launches: "launchLimit"
            case .script: "scriptFailed"
            case .person: "byHand"
            }
        }
    }

    /// No more blocks keep an error: a state has to fit into its limit.
    static let mostErrors = 100

    /// Whether a version may be tried now.
    package enum BlockStatus: Equatable, Sendable {
        case free
        case waiting(until: UTCTime)
        case blocked(until: UTCTime)
        /// A person went back from it.
        case rolledBackByHand(until: UTCTime)

        /// Nil for what may be tried when a person asks for it.
        var blockedUntil: UTCTime? {
            switch self {
            case .free, .waiting: nil
            case .blocked(let until), .rolledBackByHand(let until): until
            }
        }
    }

    package private(set) var blocks: [PatchContent: Block]

    package init(_ blocks: [PatchContent: Block] = [:]) {
        self.blocks = blocks
    }

    /// - Parameter retryNow: a person asked to try again what only waits for its first hour to end.
    package func status(of content: PatchContent, at time: UTCTime, retryNow: Bool = false) -> BlockStatus {
        guard let block = blocks[content], block.until > time else { return .free }
        if block.reason == .person { return .rolledBackByHand(until: block.until) }
        if block.failures >= 2 { return .blocked(until: block.until) }
        return retryNow ? .free : .waiting(until: block.until)
    }

    /// A trial failed: counts one more failure for each of its new versions.
    package mutating func fail(
        _ patches: [InstalledPatch],
        because reason: Reason,
        at time: UTCTime,
        error: PageError? = nil
    ) {
        for patch in patches {
            let failures = reason == .person ? 2 : min((blocks[patch.content]?.failures ?? 0) + 1, Self.mostFailures)
            let wait = Self.wait(after: failures)
            blocks[patch.content] = Block(
                version: patch.version,
                failures: failures,
                until: time.adding(wait),
                reason: reason,
                error: error
            )
        }
    }

    private static func wait(after failures: Int) -> Duration {
        failures == 1 ? firstWait : blockTime
    }

    /// No block lasts longer than its whole length from now: one that would was written by a clock that ran ahead.
    package mutating func shorten(at time: UTCTime) {
        blocks = blocks.mapValues { block in
            Block(
                version: block.version,
                failures: block.failures,
                until: min(block.until, time.adding(Self.wait(after: block.failures))),
                reason: block.reason,
                error: block.error
            )
        }
    }

    /// What ended and is not listed any more counts for nothing.
    package mutating func keep(listed: Set<PatchContent>, at time: UTCTime) {
        blocks = blocks.filter { $0.value.until > time || listed.contains($0.key) }
    }

    /// Forgets those that end first, where there are more, and the errors of all but the last.
    mutating func bound(to count: Int) {
        let told = blocks.filter { $0.value.error != nil }
        if told.count > Self.mostErrors {
            let first = told.sorted { ($0.value.until, $0.key) < ($1.value.until, $1.key) }
            for content in first.dropLast(Self.mostErrors).map(\.key) { blocks[content]?.error = nil }
        }
        guard blocks.count > count else { return }
        let last = blocks.sorted { ($0.value.until, $0.key) > ($1.value.until, $1.key) }
        blocks = Dictionary(uniqueKeysWithValues: last.prefix(count).map { ($0.key, $0.value) })
    }

    /// A version proved itself: what it failed before is forgotten.
    package mutating func clear(_ contents: Set<PatchContent>) {
        for content in contents { blocks[content] = nil }
    }

    /// A person, or a new build of the app, starts over.
    ///
    /// - Parameter ids: of these patches alone; nil for all.
    /// - Returns: what is forgotten.
    package mutating func clearAll(of ids: Set<PatchID>? = nil) -> [Label] {
        let gone = blocks.filter { ids?.contains($0.key.patchID) ?? true }
        clear(Set(gone.keys))
        return gone.map { Label(patchID: $0.key.patchID, version: $0.value.version) }
    }

    package var json: JSON {
        .array(
            blocks.sorted { $0.key < $1.key }.map { content, block in
                .fields([
                    ("patchId", .text(content.patchID.text)), ("sha256", .text(content.sha256.hex)),
                    ("version", .text(block.version.text)), ("failures", .integer(block.failures)),
                    ("until", .text(block.until.description)), ("reason", .text(block.reason.rawValue)),
                    ("error", block.error?.json),
                ])
            }
        )
    }

    package init(_ rows: [JSON], of document: String) throws(FormatError) {
        blocks = [:]
        for (index, value) in rows.enumerated() {
            let row = try Fields(value, of: document, at: "blocks[\(index)]")
            guard let reason = Reason(rawValue: try row.string("reason")) else {
                throw row.broken("reason", "is unknown")
            }
            blocks[PatchContent(patchID: try row.name("patchId"), sha256: try row.digest("sha256"))] = Block(
                version: try row.name("version"),
                failures: try row.integer("failures", in: 1...Self.mostFailures),
                until: try row.time("until"),
                reason: reason,
                error: row.has("error") ? try PageError(kept: try row.fields("error")) : nil
            )
        }
    }
}
