package import PatchFormat

/// Versions that could not be downloaded, and how long each one waits.
///
/// They are counted separately from failed trials (J11).
///
/// After three failures of one (patchId, sha256), or five if the network is the cause, the version waits an hour. After each
/// further failure the wait doubles, up to a day. A success resets the count, and every version has its own count.
package struct TransferFailures: Equatable, Sendable {
    package static let limit = 3
    package static let networkLimit = 5
    package static let firstWait = Duration.hours(1)
    package static let longestWait = Duration.days(1)
    /// The maximum count.
    private static let mostFailures = 1_000_000

    package enum Cause: Sendable {
        /// The connection to the server failed.
        case network
        /// The server's file is missing, too large, or differs from its entry.
        case content
    }

    package struct Count: Equatable, Sendable {
        package let version: VersionLabel
        package fileprivate(set) var content = 0
        package fileprivate(set) var network = 0
        /// The number of waits so far.
        package fileprivate(set) var waits = 0
        /// The end of the last wait.
        package fileprivate(set) var until: UTCTime?

        package var failures: Int { content + network }
    }

    package struct Wait: Equatable, Sendable {
        package let failures: Int
        package let until: UTCTime
    }

    package private(set) var counts: [PatchContent: Count] = [:]

    package init() {}

    /// The wait, or nil if the version may be downloaded now.
    package func wait(for content: PatchContent, at time: UTCTime) -> Wait? {
        guard let count = counts[content], let until = count.until, until > time else { return nil }
        return Wait(failures: count.failures, until: until)
    }

    /// Counts a failure of a sync to download all of a version.
    ///
    /// - Parameter movedForward: Whether some bytes were received and stay. A network failure is then not counted.
    package mutating func fail(
        _ content: PatchContent,
        version: VersionLabel,
        because cause: Cause,
        movedForward: Bool,
        at time: UTCTime
    ) {
        if cause == .network && movedForward { return }
        var count = counts[content] ?? Count(version: version)
        switch cause {
        case .content: count.content = min(count.content + 1, Self.mostFailures)
        case .network: count.network = min(count.network + 1, Self.mostFailures)
        }
        if count.content >= Self.limit || count.network >= Self.networkLimit {
            let wait = (0..<min(count.waits, 10)).reduce(Self.firstWait) { wait, _ in min(wait * 2, Self.longestWait) }
            count.waits = min(count.waits + 1, Self.mostFailures)
            count.until = time.adding(wait)
        }
        counts[content] = count
    }

    package mutating func succeed(_ content: PatchContent) {
        counts[content] = nil
    }

    /// Resets the counts at a person's request.
    ///
    /// - Parameter ids: The only patches to reset, or nil for all.
    /// - Returns: the versions whose counts were removed.
    package mutating func clear(of ids: Set<PatchID>? = nil) -> [Label] {
        let gone = counts.filter { ids?.contains($0.key.patchID) ?? true }
        for content in gone.keys { counts[content] = nil }
        return gone.map { Label(patchID: $0.key.patchID, version: $0.value.version) }
    }

    /// Shortens waits that exceed the longest one from now, because they were written while the clock was ahead.
    package mutating func shorten(at time: UTCTime) {
        counts = counts.mapValues { count in
            var count = count
            count.until = count.until.map { min($0, time.adding(Self.longestWait)) }
            return count
        }
    }

    /// Removes the counts of versions that are no longer listed.
    package mutating func keep(only listed: Set<PatchContent>) {
        counts = counts.filter { listed.contains($0.key) }
    }

    /// Removes counts beyond the limit, those with the fewest failures first.
    package mutating func bound(to count: Int) {
        guard counts.count > count else { return }
        let most = counts.sorted { ($0.value.failures, $0.key) > ($1.value.failures, $1.key) }
        counts = Dictionary(uniqueKeysWithValues: most.prefix(count).map { ($0.key, $0.value) })
    }

    package mutating func clearAll() {
        counts = [:]
    }
}

extension TransferFailures {
    package var json: JSON? {
        guard !counts.isEmpty else { return nil }
        return .array(
            counts.sorted { $0.key < $1.key }.map { content, count in
                .fields([
                    ("patchId", .text(content.patchID.text)), ("sha256", .text(content.sha256.hex)),
                    ("version", .text(count.version.text)), ("content", .integer(count.content)),
                    ("network", .integer(count.network)), ("waits", .integer(count.waits)),
                    ("until", count.until.map { .text($0.description) }),
                ])
            }
        )
    }

    package init(_ rows: [JSON], of document: String) throws(FormatError) {
        for (index, value) in rows.enumerated() {
            let row = try Fields(value, of: document, at: "transfers[\(index)]")
            var count = Count(version: try row.name("version"))
            count.content = try row.integer("content", in: 0...Self.mostFailures)
            count.network = try row.integer("network", in: 0...Self.mostFailures)
            count.waits = try row.integer("waits", in: 0...Self.mostFailures)
            count.until = row.has("until") ? try row.time("until") : nil
            counts[PatchContent(patchID: try row.name("patchId"), sha256: try row.digest("sha256"))] = count
        }
    }
}
