package import PatchFormat
import PatchTrust
package import ReleaseTree

/// The derived files that devices can use: compressed forms, packs and their indexes.
///
/// All of them can be made again. A device that misses one downloads the files themselves.
struct UsableForms: Equatable, Sendable {
    /// How long the forms of the previous release stay after the next one was published, for downloads in progress.
    static let grace = Duration.seconds(15 * 60)

    /// The manifests of listed bundles.
    var manifests: Set<SHA256Digest> = []
    /// Documents that a listing role names.
    var targets: Set<TreePath.File> = []
    /// Scripts and assets of listed versions.
    var objects: Set<SHA256Digest> = []

    /// The derived files of a tree that no device asks for any more.
    ///
    /// A pack is used if it makes a listed version, or the base of such a pack: devices with older versions take two packs.
    func unused(in listing: TreeListing) -> [TreePath.File] {
        var bases: Set<SHA256Digest> = []
        for case .basePack(let pack, .pack) in listing.files.keys where manifests.contains(pack.manifest) {
            bases.insert(pack.base)
        }
        let reached = manifests.union(bases)
        return listing.files.keys.filter { file in
            switch file {
            case .compressed(.pack(let manifest), _): !manifests.contains(manifest)
            case .compressed(.object(let object), _): !objects.contains(object)
            case .compressed(let plain, _):
                if case .target = plain { !targets.contains(plain) } else { false }
            case .basePack(let pack, _): !reached.contains(pack.manifest)
            case .packIndex(let manifest): !reached.contains(manifest)
            case .timestamp, .root, .role, .target, .object, .pack, .express, .gateway: false
            }
        }
    }
}

extension UsableForms {
    /// What the channels' current releases list, and the previous ones within the time of grace.
    ///
    /// - Throws: an error if a current list cannot be read: nothing is known to be unused then.
    ///
    /// - Parameter objectsToo: also reads the manifests for ``objects``.
    init(
        of repository: AppRepository,
        _ state: PublishedState,
        objectsToo: Bool = true,
        at now: UTCTime
    ) throws(ServerError) {
        var reader = ContentsReader(repository.tree)
        for (channel, published) in state.channels {
            try add(published.role, channel, objectsToo, &reader)
            let version = published.role.header.version
            let file = TreePath.File.role(channel.text, version: version)
            guard let written = try repository.storage.status(of: file)?.modified,
                now < written.adding(Self.grace),
                let before = try repository.roles(of: channel, below: version, limit: 1).first,
                let previous = try? repository.tree.standingRole(channel.text, version: before)
            else { continue }
            try? add(previous, channel, objectsToo, &reader)
        }
    }

    private mutating func add(
        _ role: TargetsRole,
        _ channel: ChannelName,
        _ objectsToo: Bool,
        _ reader: inout ContentsReader
    ) throws(ServerError) {
        let contents = try objectsToo ? reader.contents(of: role, channel: channel) : reader.targets(of: role)
        targets.formUnion(contents.targets.keys)
        objects.formUnion(contents.objects.keys)
        manifests.formUnion(contents.targets.keys.compactMap(\.manifest))
    }
}

/// Derived files that were removed.
package struct RemovedForms: Equatable, Sendable {
    package var files = 0
    package var bytes = 0

    package static let nothing = RemovedForms()

    package init(files: Int = 0, bytes: Int = 0) {
        (self.files, self.bytes) = (files, bytes)
    }
}

extension AppRepository {
    /// Removes the derived files that no device asks for any more; the caller holds the lock.
    ///
    /// - Parameter packsAlone: looks at packs and at forms of documents and whole bundles, which are few beside the forms of
    ///   single files.
    package func removeUnusedForms(packsAlone: Bool = false, at now: UTCTime) throws(ServerError) -> RemovedForms {
        let state = try PublishedState(of: self)
        let usable = try UsableForms(of: self, state, objectsToo: !packsAlone, at: now)
        let listing = try packsAlone ? storage.listingOfPacks() : storage.listing()
        let gone = usable.unused(in: listing).sorted { TreePath(app, $0).path < TreePath(app, $1).path }
        guard !gone.isEmpty else { return .nothing }
        // Before the packs: interrupted in between, no index names one that is missing.
        if gone.contains(where: \.isInPackIndex) { _ = try indexPacks(without: Set(gone)) }
        try storage.remove(gone)
        return RemovedForms(files: gone.count, bytes: gone.reduce(0) { $0 + (listing.files[$1]?.size ?? 0) })
    }
}
