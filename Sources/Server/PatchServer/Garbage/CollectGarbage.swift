import Linux
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// Removes the files that ``FindGarbage`` finds, in batches, so that other processes can publish in between.
package struct CollectGarbage: Sendable {
    /// How many files are removed in one step.
    static let batch = 1_000

    /// The state that another process may change between two steps.
    private struct Revision: Equatable {
        let timestamp: StoredFile?
        /// The drafts by `CHANNEL/VERSION`: a draft is replaced under the same name, and signatures are added to it.
        let drafts: [String: FileIdentity?]
        let pins: GarbagePins
    }

    /// The removed files, by kind.
    package struct Tally: Equatable, Sendable {
        package private(set) var rows: [String: (count: Int, bytes: Int)] = [:]

        package init() {}

        package mutating func add(_ kind: String, count: Int = 1, bytes: Int) {
            let row = rows[kind] ?? (0, 0)
            rows[kind] = (row.count + count, row.bytes + bytes)
        }

        package static func == (left: Tally, right: Tally) -> Bool {
            left.rows.mapValues { [$0.count, $0.bytes] } == right.rows.mapValues { [$0.count, $0.bytes] }
        }
    }

    private let repository: AppRepository
    private let rule: GarbageRule
    private let now: UTCTime
    private var plan: GarbagePlan?
    private var revision: Revision?
    private var hasBegun = false
    private var progress: (total: Int, tell: Progress)?
    private var gone = 0
    package private(set) var removed = Tally()

    package init(_ repository: AppRepository, by rule: GarbageRule, at now: UTCTime) {
        self.repository = repository
        self.rule = rule
        self.now = now
    }

    /// Finds the files to remove, unless that was done and nothing has changed since.
    ///
    /// The caller holds the lock.
    ///
    /// - Parameter pins: the files that are needed outside the tree.
    package mutating func look(pinning pins: GarbagePins = .none) throws(ServerError) -> GarbagePlan {
        let found = try currentRevision(pins)
        if let plan, revision == found { return plan }
        let plan = try FindGarbage(in: repository, by: rule, at: now, pinning: pins).run()
        (self.plan, revision) = (plan, found)
        if progress == nil, !plan.isEmpty { progress = (plan.count, repository.progress(.removing, plan.count)) }
        return plan
    }

    /// Removes the next batch.
    ///
    /// The caller holds the lock, and may release it between two steps. Afterwards: durable. If it throws, a part of the step may
    /// be done.
    /// - Returns: whether anything is left.
    package mutating func step(pinning pins: GarbagePins = .none) throws(ServerError) -> Bool {
        if !hasBegun { try removeHalfWritten() }
        hasBegun = true
        _ = try look(pinning: pins)
        guard let next = plan?.next(upTo: Self.batch) else {
            if let progress { progress.tell(progress.total) }
            return false
        }
        try remember(next.items)
        try remove(next.items)
        plan?.drop(next.items.count, of: next.stage)
        for item in next.items { removed.add(item.kind, bytes: item.size) }
        gone += next.items.count
        let isMore = plan?.isEmpty == false
        if let progress { progress.tell(isMore ? min(gone, progress.total - 1) : progress.total) }
        return isMore
    }

    /// Keeps the versions of removed roles as used.
    private func remember(_ items: [GarbagePlan.Item]) throws(ServerError) {
        var record = try repository.tree.versionRecord()
        let before = record
        for case .tree(.role(let name, let version)) in items.map(\.place) {
            record.collect(name, version: version)
        }
        if record != before { try repository.tree.keep(record) }
    }

    private func remove(_ items: [GarbagePlan.Item]) throws(ServerError) {
        var files: [TreePath.File] = []
        for item in items {
            switch item.place {
            case .tree(let file): files.append(file)
            case .draft(let channel, let version): _ = try repository.tree.removeDrafts(of: channel, upTo: version)
            }
        }
        // Before the packs are removed: after an interruption, no index names a missing pack.
        if files.contains(where: \.isInPackIndex) { try IndexPacks(in: repository, without: Set(files)).run() }
        if !files.isEmpty { try repository.storage.remove(files) }
    }

    private mutating func removeHalfWritten() throws(ServerError) {
        let forgotten = try repository.folder.removeForgottenForms(
            olderThan: now.adding(.zero - .days(1)),
            files: repository.files
        )
        for size in try repository.storage.removeHalfWritten() + forgotten { removed.add("half-written", bytes: size) }
    }

    private func currentRevision(_ pins: GarbagePins) throws(ServerError) -> Revision {
        let files = repository.files
        let timestamp = try repository.storage.status(of: .timestamp)
        let drafts = repository.folder.drafts(of: repository.app)
        do throws(FileError) {
            var found: [String: FileIdentity?] = [:]
            for channel in try files.status(of: drafts) == nil ? [] : try files.list(drafts) {
                for version in try files.list(drafts.at(channel)) {
                    let role = drafts.at(channel).at(version).at("role.json")
                    found["\(channel)/\(version)"] = .some(try files.identity(of: role))
                }
            }
            return Revision(timestamp: timestamp, drafts: found, pins: pins)
        } catch { throw .file(error) }
    }
}
