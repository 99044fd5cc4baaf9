import PatchFormat
import PatchCrypto
import PatchTrust

/// The derived files that devices can use: compressed forms, packs and their indexes.
///
/// All of them can be made again. If one is missing, devices download the files themselves.
struct UsableForms: Equatable, Sendable {
    /// How long the forms of the previous release are kept after the next one is published, for downloads in progress.
    static let grace = Duration.seconds(15 * 60)

    /// The manifests of listed bundles.
    var manifests: Set<SHA256Digest> = []
    /// The subset of `manifests` that devices download as a whole.
    var whole: Set<SHA256Digest> = []
    /// Documents in a listing role.
    var targets: Set<TreePath.File> = []
    /// Scripts and assets of listed versions.
    var objects: Set<SHA256Digest> = []

    /// The derived files of a tree that devices no longer request.
    ///
    /// A pack is used if it produces a listed version, or the base of such a pack: devices with older versions use two packs.
    func unused(in listing: TreeListing) -> [TreePath.File] {
        var bases: Set<SHA256Digest> = []
        for case .basePack(let pack, .pack) in listing.files.keys where manifests.contains(pack.manifest) {
            bases.insert(pack.base)
        }
        let reached = manifests.union(bases)
        return listing.files.keys.filter { file in
            switch file {
            case .compressed(.pack(let manifest), _): !whole.contains(manifest)
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
    /// The bundles that a device without an earlier version may install: of each patch, those up to the first that is for everyone.
    static func whole(in entries: [PatchEntry]) -> Set<SHA256Digest> {
        var (found, done) = (Set<SHA256Digest>(), Set<PatchID>())
        for entry in entries where entry.kind == .bundle && !done.contains(entry.patchID) {
            found.insert(entry.fingerprint.sha256)
            if entry.rules.isForEveryone { done.insert(entry.patchID) }
        }
        return found
    }
}

extension UsableForms {
    /// Reads the contents of the channels' current releases, and of the previous ones within the grace period.
    ///
    /// - Throws: an error if a current list cannot be read: then no file is known to be unused.
    ///
    /// - Parameter objectsToo: also reads the manifests for ``objects``.
    init(
        of tree: AppTree,
        _ state: PublishedState,
        objectsToo: Bool = true,
        at now: UTCTime
    ) throws(ServerError) {
        var reader = ContentsReader(tree)
        for (channel, published) in state.channels {
            try add(published.role, channel, objectsToo, tree, &reader)
            let version = published.role.header.version
            let file = TreePath.File.role(channel.text, version: version)
            guard let written = try tree.storage.status(of: file)?.modified,
                now < written.adding(Self.grace),
                let before = try Self.version(of: channel, before: version, in: tree),
                let previous = try? tree.storedRole(channel.text, version: before)
            else { continue }
            try? add(previous, channel, objectsToo, tree, &reader)
        }
    }

    /// The newest version of a channel's role that is below `version`.
    private static func version(of channel: ChannelName, before version: Int, in tree: AppTree) throws(ServerError)
        -> Int?
    {
        var newest: Int?
        for case .role(channel.text, let other) in try tree.storage.roles() where other < version {
            newest = max(other, newest ?? other)
        }
        return newest
    }

    private mutating func add(
        _ role: TargetsRole,
        _ channel: ChannelName,
        _ objectsToo: Bool,
        _ tree: AppTree,
        _ reader: inout ContentsReader
    ) throws(ServerError) {
        let contents = try objectsToo ? reader.contents(of: role, channel: channel) : reader.targets(of: role)
        let (bytes, _) = try tree.target(.patchList(channel), of: role)
        do throws(FormatError) { whole.formUnion(Self.whole(in: try ParsedPatchList(bytes).list.entries)) } catch {
            throw .tree(tree.app, .malformed(error))
        }
        targets.formUnion(contents.targets.keys)
        objects.formUnion(contents.objects.keys)
        manifests.formUnion(contents.targets.keys.compactMap(\.manifest))
    }
}
