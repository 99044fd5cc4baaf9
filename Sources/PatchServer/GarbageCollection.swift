package import PatchFormat
import PatchStore
import PatchTrust
import SystemPackage

/// Removes what ``AppRepository/garbage(by:at:)`` finds, a part at a time, so that others may publish in between.
package struct GarbageCollection: Sendable {
    /// How many files go in one step.
    static let batch = 1_000

    /// What another process may have changed between two steps.
    private struct Mark: Equatable {
        let timestamp: FileIdentity?
        /// By `CHANNEL/VERSION`: a draft is replaced under its name, and signatures are added to it.
        let drafts: [String: FileIdentity?]
        let pins: GarbagePins
    }

    /// What is gone, by kind.
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
    private var mark: Mark?
    private var hasBegun = false
    package private(set) var removed = Tally()

    package init(_ repository: AppRepository, by rule: GarbageRule, at now: UTCTime) {
        self.repository = repository
        self.rule = rule
        self.now = now
    }

    /// Looks at what there is to remove, unless that was done and nothing has changed since; the caller holds the lock.
    ///
    /// - Parameter pins: what something outside the tree counts on now.
    package mutating func look(pinning pins: GarbagePins = .none) throws(ServerError) -> GarbagePlan {
        let found = try currentMark(pins)
        if let plan, mark == found { return plan }
        let plan = try repository.garbage(by: rule, at: now, pinning: pins)
        (self.plan, mark) = (plan, found)
        return plan
    }

    /// Removes some of what is left; the caller holds the lock, and may give it back between two steps.
    ///
    /// Afterwards: durable. When it throws, a part of the step may be done.
    /// - Returns: whether anything is left.
    package mutating func step(pinning pins: GarbagePins = .none) throws(ServerError) -> Bool {
        if !hasBegun { try removeHalfWritten() }
        hasBegun = true
        _ = try look(pinning: pins)
        guard let next = plan?.next(upTo: Self.batch) else { return false }
        try remember(next.items)
        for item in next.items { try remove(item) }
        try makeDurable(next.items)
        plan?.drop(next.items.count, of: next.stage)
        for item in next.items { removed.add(item.kind, bytes: item.size) }
        return plan?.isEmpty == false
    }

    /// The numbers of roles that go now stay used.
    private func remember(_ items: [GarbagePlan.Item]) throws(ServerError) {
        var record = try repository.versionRecord()
        let before = record
        for case .tree(.role(let name, let version)) in items.map(\.place) {
            record.collect(name, version: version)
        }
        if record != before { try repository.keep(record) }
    }

    private func remove(_ item: GarbagePlan.Item) throws(ServerError) {
        switch item.place {
        case .tree(let file):
            do throws(FileError) { try repository.files.removeIfPresent(repository.path(of: file)) } catch {
                throw .file(error)
            }
        case .draft(let channel, let version):
            _ = try repository.removeDrafts(of: channel, upTo: version)
        }
    }

    /// Syncs the directories of what was removed, and removes those of targets that hold nothing any more.
    private func makeDurable(_ items: [GarbagePlan.Item]) throws(ServerError) {
        var directories: Set<String> = []
        for case .tree(let file) in items.map(\.place) {
            let path = TreePath(repository.app, file).path
            directories.insert(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
        }
        do throws(FileError) {
            for directory in directories.sorted() { try settle(directory) }
        } catch { throw .file(error) }
    }

    private func settle(_ directory: String) throws(FileError) {
        var directory = directory
        while directory.hasPrefix("targets/"), try repository.files.list(repository.tree.appending(directory)).isEmpty {
            try repository.files.removeTree(repository.tree.appending(directory))
            directory = String(directory[..<(directory.lastIndex(of: "/") ?? directory.startIndex)])
        }
        try repository.files.syncDirectory(repository.tree.appending(directory))
    }

    private mutating func removeHalfWritten() throws(ServerError) {
        let (incoming, files) = (repository.folder.incoming, repository.files)
        do throws(FileError) {
            guard try files.status(of: incoming) != nil else { return }
            for path in try files.list(incoming) {
                removed.add("half-written", bytes: try files.status(of: incoming.appending(path))?.identity.size ?? 0)
            }
            try files.removeTree(incoming)
        } catch { throw .file(error) }
    }

    private func currentMark(_ pins: GarbagePins) throws(ServerError) -> Mark {
        let files = repository.files
        let drafts = repository.folder.drafts(of: repository.app)
        do throws(FileError) {
            var found: [String: FileIdentity?] = [:]
            for channel in try files.status(of: drafts) == nil ? [] : try files.list(drafts) {
                for version in try files.list(drafts.appending(channel)) {
                    let role = drafts.appending(channel).appending(version).appending("role.json")
                    found["\(channel)/\(version)"] = .some(try files.identity(of: role))
                }
            }
            let timestamp = try files.identity(of: repository.path(of: .timestamp))
            return Mark(timestamp: timestamp, drafts: found, pins: pins)
        } catch { throw .file(error) }
    }
}
