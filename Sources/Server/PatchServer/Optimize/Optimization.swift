package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// Makes the small forms and the packs of a channel's current release, a step at a time.
///
/// A step is made without the folder's lock, and is put into the tree under it. A process killed at any moment leaves a complete
/// tree, in which devices find the forms that exist. The next run starts with the missing files.
package struct Optimization: Sendable {
    /// Files that were written and removed.
    package struct Outcome: Equatable, Sendable {
        package var written = TreeChange.nothing
        package var removed = RemovedForms.nothing
        /// Packs that were discarded, because they save too few bytes for the space they use.
        package var leftOut: [DiscardedPack] = []

        package init() {}
    }

    /// How long the forms of the previous release are kept after the next one is published.
    package static let grace = UsableForms.grace

    package let roleVersion: Int
    private let repository: AppRepository
    private let channel: ChannelName
    private let packs: PackPlan
    private let forms: CompressionPlan
    private var queue: OptimizationQueue
    private var done = 0

    /// Finds the missing files.
    ///
    /// It needs no lock.
    ///
    /// - Returns: nil for a channel without a release.
    package init?(of channel: ChannelName, in repository: AppRepository) throws(ServerError) {
        guard let role = try PublishedState(of: repository).channels[channel]?.role else { return nil }
        (self.repository, self.channel, roleVersion) = (repository, channel, role.header.version)
        let sources = VersionSources(repository.tree)
        let contents = try ListedContents(of: role, channel, in: repository.tree, sources)
        forms = try CompressionPlan(improving: CompressionPlan.items(of: contents.release)) {
            (form) throws(ServerError) in
            try repository.storage.status(of: form) != nil
        }
        packs = PackPlan(to: contents.bundles, of: channel, at: roleVersion, sources, in: repository)
        queue = OptimizationQueue(packs: packs.jobs, forms: forms.jobs)
    }

    /// Files made so far, and in all.
    package var progress: PendingOptimization.Steps {
        PendingOptimization.Steps(done: done, total: queue.total)
    }

    /// Makes the files of the next step.
    ///
    /// The caller discards them in the end.
    ///
    /// - Returns: nil after the last step.
    package mutating func next() async throws(ServerError) -> CompressedForms? {
        guard let step = queue.next() else { return nil }
        let (files, scratch) = (repository.files, repository.folder.root.at("\(ServerFolder.compressing)optimizing"))
        do throws(FileError) {
            // Left by a killed process.
            if try files.status(of: scratch) != nil { try files.removeTree(scratch) }
            try files.makeDirectory(scratch)
        } catch { throw .file(error) }
        done += step.count
        let sources = VersionSources(repository.tree)
        switch step {
        case .packs(let jobs):
            var quiet = repository
            quiet.progress = { _, _ in { _ in } }
            var work = PackWork(packs.part(jobs), of: sources, in: scratch.at("packs"), of: quiet)
            work.threads = .background
            let (made, leftOut) = await work.run()
            return CompressedForms(made: made.flatMap(\.files), leftOut: leftOut, folder: scratch)
        case .forms(let jobs):
            var work = CompressionWork(forms.part(jobs), in: scratch, files) { (digest) throws(ServerError) in
                try sources.object(digest)
            }
            work.threads = .background
            do throws(ServerError) {
                return CompressedForms(made: try await work.run { _ in }, folder: scratch)
            } catch {
                try? files.removeTree(scratch)
                throw error
            }
        }
    }

    /// Puts the files of a step into the tree; the caller holds the lock.
    ///
    /// - Returns: nil if the channel has another release now, or another process has finished this one.
    package func keep(_ made: CompressedForms) throws(ServerError) -> TreeChange? {
        let storage = repository.storage
        var record = repository.tree.optimizationRecord
        guard record.rows[channel]?.roleVersion == roleVersion else { return nil }
        var writes: [TreeWrite] = []
        for form in made.made.sorted(by: { $0.rank < $1.rank }) {
            if let existing = try storage.status(of: form.file) {
                guard form.isCompressed, form.size < existing.size else { continue }
            }
            writes.append(TreeWrite(file: form.file, source: .file(form.path, form.digest)))
        }
        var change = TreeChange.nothing
        if !writes.isEmpty {
            _ = try storage.removeHalfWritten()
            change = try storage.put(writes)
            _ = try storage.removeHalfWritten()
            let manifests = Set(writes.compactMap(\.file.packedManifest))
            if !manifests.isEmpty { change += try IndexPacks(in: repository, to: manifests).run() }
        }
        record.add(PendingOptimization(channel, roleVersion, progress: progress))
        try repository.tree.keep(record)
        return change
    }

    /// Forgets the channel once all of its files are made; the caller holds the lock.
    package func finish() throws(ServerError) {
        guard repository.tree.optimizationRecord.rows[channel]?.roleVersion == roleVersion else { return }
        // A process killed between writing a form and its index left the index outdated.
        try IndexPacks(in: repository).run()
        try repository.tree.forgetOptimization(of: channel, roleVersion: roleVersion)
    }
}

extension CompressedForms.Form {
    fileprivate var isCompressed: Bool { if case .compressed = file { true } else { false } }

    /// The order in which forms are written.
    ///
    /// A form that implies others is last.
    fileprivate var rank: Int {
        switch file {
        case .compressed(_, .gzip), .basePack(_, .pack): 1
        default: 0
        }
    }
}

extension TreePath.File {
    /// The manifest whose pack index describes this file.
    fileprivate var packedManifest: SHA256Digest? {
        switch self {
        case .basePack(let pack, _): pack.manifest
        case .compressed(.pack(let manifest), _): manifest
        case .timestamp, .root, .role, .target, .object, .pack, .packIndex, .express, .gateway, .compressed: nil
        }
    }
}

/// The contents that a published role lists, read from the tree.
private struct ListedContents {
    let release: ReleaseContents
    let bundles: [BundleVersion]

    init(of role: TargetsRole, _ channel: ChannelName, in tree: AppTree, _ sources: VersionSources) throws(ServerError)
    {
        let (bytes, _) = try tree.target(.patchList(channel), of: role)
        let entries: [PatchEntry]
        do throws(FormatError) { entries = try ParsedPatchList(bytes).list.entries } catch {
            throw .tree(tree.app, .malformed(error))
        }
        bundles = BundleVersion.all(of: entries, in: role, channel)
        var sizes: [SHA256Digest: Int] = [:]
        for entry in entries where entry.kind == .script { sizes[entry.fingerprint.sha256] = entry.fingerprint.size }
        let whole = UsableForms.whole(in: entries)
        var listed: [ReleaseContents.Bundle] = []
        for version in bundles {
            let objects = try Self.objects(of: version, sources, tree.app)
            for object in objects { sizes[object.sha256] = object.size }
            guard whole.contains(version.digest) else { continue }
            listed.append(ReleaseContents.Bundle(manifest: version.digest, objects: objects))
        }
        var targets: [(TreePath.File, [UInt8])] = []
        for file in try ContentsReader(tree).targets(of: role).targets.keys
        where try tree.storage.status(of: .compressed(file, .gzip)) == nil {
            targets.append((file, try sources.document(file)))
        }
        release = ReleaseContents(targets: targets, objects: sizes, bundles: listed)
    }

    private static func objects(
        of version: BundleVersion,
        _ sources: VersionSources,
        _ app: AppID
    ) throws(ServerError) -> [Fingerprint] {
        let bytes = try sources.document(version.manifest)
        do throws(FormatError) {
            return try AssetManifest(bytes, named: version.digest.hex).assets.map(\.fingerprint)
        } catch { throw .tree(app, .malformed(error)) }
    }
}
