package import PatchFormat

/// Versions that failed a trial on this device, and how long each one is blocked.
///
/// After the first failure of a (patchId, sha256) the version waits an hour. From the second one on it is blocked for 14 days.
package struct TrialBlocks: Equatable, Sendable {
    package static let firstWait = Duration.hours(1)
    package static let blockTime = Duration.days(14)
    /// The maximum count.
    private static let mostFailures = 1_000_000

    package struct Block: Equatable, Sendable {
        package let version: VersionLabel
        package let failures: Int
        package let until: UTCTime
        package let reason: Reason
        /// The first error of the version's pages, or the error of its script.
        package var error: PageError?
    }

    package enum Reason: String, Sendable {
        case timer = "not confirmed before the startup timer ended"
        case launches = "not confirmed in any of its launches"
        case script = "a script of it failed"
        case person = "rolled back by hand"

        /// A code that is the same in every version of this program.
        package var code: String {
            switch self {
            case .timer: "startupTimer"
            case .launches: "launchLimit"
            case .script: "scriptFailed"
            case .person: "byHand"
            }
        }
    }

    /// The maximum number of blocks with an error, because the state's size is limited.
    static let mostErrors = 100

    /// Whether a version may be tried now.
    package enum BlockStatus: Equatable, Sendable {
        case free
        case waiting(until: UTCTime)
        case blocked(until: UTCTime)
        /// A person rolled it back.
        case rolledBackByHand(until: UTCTime)

        /// The end of the block, or nil if a person may retry the version.
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

    /// - Parameter retryNow: Whether a person asked to retry versions that wait after their first failure.
    package func status(of content: PatchContent, at time: UTCTime, retryNow: Bool = false) -> BlockStatus {
        guard let block = blocks[content], block.until > time else { return .free }
        if block.reason == .person { return .rolledBackByHand(until: block.until) }
        if block.failures >= 2 { return .blocked(until: block.until) }
        return retryNow ? .free : .waiting(until: block.until)
    }

    /// Counts one more failure for each new version of a failed trial.
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

    /// Shortens blocks that exceed their full length from now, because they were written while the clock was ahead.
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

    /// Removes ended blocks of versions that are no longer listed.
    package mutating func keep(listed: Set<PatchContent>, at time: UTCTime) {
        blocks = blocks.filter { $0.value.until > time || listed.contains($0.key) }
    }

    /// Removes blocks beyond the limit, those that end first, and the errors of all but the last ones.
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

    /// Removes the failures of versions that were confirmed.
    package mutating func clear(_ contents: Set<PatchContent>) {
        for content in contents { blocks[content] = nil }
    }

    /// Removes blocks, for a person or a new build of the app.
    ///
    /// - Parameter ids: The only patches to unblock, or nil for all.
    /// - Returns: the versions whose blocks were removed.
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
