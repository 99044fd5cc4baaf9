import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// Checks a tree like ``CheckTree``, and repairs the faults that it can prove.
///
/// It restores files whose digest is known and whose bytes are found elsewhere, the first root of trust, and labels of a verified
/// list. It removes half-written files, and faulty compressed forms and packs. It rebuilds a lost record of labels and the indexes
/// of packs.
///
/// It signs nothing, and removes nothing of the tree but such forms and packs. The caller holds the lock.
package struct RepairTree: Sendable {
    /// Each round may reveal the files below a role that the previous round restored.
    private static let rounds = 8

    private let repository: AppRepository
    private let sources: [FilePath]
    private let history: [KnownRelease]

    /// - Parameters:
    ///   - sources: folders that may hold missing files: an exported tree, a copy of one, signed releases.
    ///   - history: every release in the server's records.
    package init(
        of repository: AppRepository,
        from sources: [FilePath] = [],
        history: [KnownRelease] = []
    ) {
        (self.repository, self.sources, self.history) = (repository, sources, history)
    }

    package func run() throws(ServerError) -> TreeReport {
        var (repaired, notes) = ([TreeFault](), [String]())
        for _ in 1...Self.rounds {
            var check = try CheckPass(repository)
            check.run()
            var report = check.report
            let rebuilt =
                try repository.hasLostLabels() ? try? RebuildLabels(of: repository, history: history).run() : nil
            if let rebuilt { notes.append(rebuilt.note) }
            let healed = try repair(report, rebuilt?.labels)
            let indexes = try IndexPacks(in: repository).run().files
            if indexes > 0 { notes.append("wrote the pack indexes of \(Words.count(indexes, "version"))") }
            guard !healed.isEmpty else {
                (report.repaired, report.notes) = (repaired, notes)
                return report
            }
            repaired += healed
        }
        var report = try CheckTree(of: repository).run()
        (report.repaired, report.notes) = (repaired, notes)
        return report
    }

    /// - Returns: the repaired faults.
    private func repair(_ report: TreeReport, _ rebuilt: PublishedLabels?) throws(ServerError) -> [TreeFault] {
        let finder = try RepairSources(repository, given: sources)
        var (plan, healed) = (PublicationPlan(), [TreeFault]())
        for fault in report.faults {
            if let wanted = fault.wanted, let source = finder.source(of: wanted) {
                plan.write(source, to: .tree(wanted.file), in: wanted.file.step)
                healed.append(fault)
            } else if fault.rule == .leftover {
                healed.append(fault)
            } else if let form = fault.form {
                try repository.storage.remove([form])
                healed.append(fault)
            }
        }
        let labels = report.faults.filter { fault in
            fault.rule == .label || rebuilt != nil && fault.path == "apps/\(repository.app)/labels.json"
        }
        if !labels.isEmpty, let whole = rebuilt ?? (try? labelsOfLists()) {
            try repository.checkSize(of: whole)
            plan.write(whole.fileBytes, to: .record("labels.json"), in: .records)
            healed += labels
        }
        if !healed.isEmpty { try WriteTree(plan, in: repository, over: nil).run() }
        return healed
    }

    /// The record of labels, with the labels of the published lists.
    private func labelsOfLists() throws(ServerError) -> PublishedLabels {
        try repository.labels().adding(publishedIn: PublishedState(of: repository), repository.tree)
    }
}

extension TreePath.File {
    fileprivate var step: PublicationPlan.Step {
        switch self {
        case .object, .target, .pack, .basePack, .packIndex, .compressed: .contents
        case .role("snapshot", _): .snapshot
        case .role("dial", _): .dial
        case .role: .channel
        case .root: .roots
        case .timestamp: .timestamp
        case .express: .express
        case .gateway: .gateways
        }
    }
}

/// Sources for files missing from the tree: other channels and apps of this server, drafts, and the operator's folders.
private struct RepairSources {
    private let repository: AppRepository
    private let folders: [FilePath]
    private let targets: [SHA256Digest: [TreePath.File]]

    init(_ repository: AppRepository, given: [FilePath]) throws(ServerError) {
        self.repository = repository
        let (files, app, folder) = (repository.files, repository.app, repository.folder)
        do throws(FileError) {
            var folders = given + given.map { $0.at(app.text) }
            let drafts = folder.drafts(of: app)
            for channel in try files.status(of: drafts) == nil ? [] : try files.list(drafts) {
                for version in try files.list(drafts.at(channel)) {
                    folders.append(drafts.at(channel).at(version))
                }
            }
            for other in try files.list(folder.tree) where other != app.text {
                folders.append(folder.tree.at(other))
            }
            self.folders = folders
        } catch { throw .file(error) }
        var targets: [SHA256Digest: [TreePath.File]] = [:]
        for case .target(let path, let digest) in try repository.storage.listing().files.keys {
            targets[digest, default: []].append(.target(path, digest))
        }
        self.targets = targets
    }

    /// The first source that contains exactly these bytes.
    func source(of wanted: TreeFault.Wanted) -> TreeWrite.Source? {
        let inTree = (targets[wanted.sha256] ?? []).first { file in
            (try? repository.storage.fingerprint(of: file))?.sha256 == wanted.sha256
        }
        if let inTree { return .stored(inTree, repository.storage, wanted.sha256) }
        let outside = candidates(of: wanted).first { path in
            (try? repository.files.fingerprint(of: path, limit: Limits.object))?.sha256 == wanted.sha256
        }
        return outside.map { .file($0, wanted.sha256) }
    }

    private func candidates(of wanted: TreeFault.Wanted) -> [FilePath] {
        let inTree = TreePath(repository.app, wanted.file).path
        var paths = folders.map { $0.at(inTree) }
        switch wanted.file {
        case .target(let path, _): paths += folders.map { $0.at("targets/\(path)") }
        case .role: paths += folders.map { $0.at("role.json") }
        case .root: paths.insert(repository.tree.anchorFile, at: 0)
        case .object, .timestamp, .pack, .basePack, .packIndex, .express, .gateway, .compressed: break
        }
        return paths
    }
}
