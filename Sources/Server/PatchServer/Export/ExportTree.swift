import Gateways
import PatchCompression
package import PatchFormat
import PatchStore
import PatchCrypto
package import PatchTrust
import ReleaseFolder
package import SystemPackage

/// An app's current state in another folder.
package struct Export: Equatable, Sendable {
    package let app: AppID
    /// Files written, and their bytes.
    package let change: TreeChange
    /// Files that existed already.
    package let unchanged: Int
    package let roles: RefreshedVersions
    /// Channels that expire before the exported tree does.
    package let endingBefore: [RoleExpiry]
}

/// Writes the published state, without older releases, as `FOLDER/APP`: a tree that any static host serves.
///
/// Incremental: existing files are kept. The order is that of a publish, so a reader of the folder sees the old state or the new
/// one, even after an interruption. The same call resumes the export. The served tree is only read and needs no lock: its files are
/// written once.
package struct ExportTree: Sendable {
    private let repository: AppRepository
    private let folder: FilePath
    private let roles: OwnRoles?
    private let rereads: Bool

    /// - Parameters:
    ///   - roles: dial, snapshot and timestamp for the exported tree alone, from ``SignExport``; nil to export the served ones.
    ///   - rereads: compares the bytes of every existing file; else files named by their digest are compared by size.
    package init(
        of repository: AppRepository,
        to folder: FilePath,
        signedWith roles: OwnRoles? = nil,
        rereading rereads: Bool = false
    ) {
        (self.repository, self.folder, self.roles, self.rereads) = (repository, folder, roles, rereads)
    }

    /// - Parameter progress: receives the number of finished files, and the total.
    package func run(progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }) throws(ExportError) -> Export {
        let state: PublishedState
        let plan: PublicationPlan
        let anchor: [UInt8]
        do throws(ServerError) {
            anchor = try tree.read(tree.anchorFile, limit: Limits.root)
            if let roles { state = roles.state } else { state = try PublishedState(of: repository) }
            plan = try self.plan(exporting: state)
        } catch { throw .server(error) }
        let target = TreeExport(of: repository.app, to: folder, rereading: rereads, files: repository.files)
        let versions = roles?.versions ?? state.versions
        try target.check(anchor: anchor, timestamp: versions.timestamp)
        let (change, unchanged) = try target.carryOut(plan, progress: progress)
        let expires = roles?.expires ?? state.timestamp.header.expires
        return Export(
            app: repository.app,
            change: change,
            unchanged: unchanged,
            roles: RefreshedVersions(
                app: repository.app,
                timestamp: versions.timestamp,
                snapshot: versions.snapshot,
                dial: versions.dial,
                expires: expires
            ),
            endingBefore: state.expiries.filter { $0.keeper == .holders && $0.expires < expires }
        )
    }

    private var tree: AppTree { repository.tree }
    private var storage: any TreeStorage { repository.storage }

    private func plan(exporting state: PublishedState) throws(ServerError) -> PublicationPlan {
        var plan = roles?.plan ?? PublicationPlan()
        var (reader, needs) = (ContentsReader(tree), RoleContents())
        for (channel, published) in state.channels {
            needs.merge(try reader.contents(of: published.role, channel: channel))
        }
        needs.merge(try reader.targets(of: state.dial))
        let listing = try storage.listing()
        let (forms, packs) = forms(in: listing)
        for digest in needs.objects.keys.sorted() {
            plan.write(.stored(.object(digest), storage, digest), to: .tree(.object(digest)), in: .contents)
            plan.copy(forms[.object(digest)], from: storage, in: .contents)
        }
        for file in needs.targets.keys {
            guard case .target(let path, let digest) = file else { continue }
            plan.write(.stored(file, storage, digest), to: .tree(file), in: .targets)
            plan.copy(forms[file], from: storage, in: .targets)
            guard path.isManifest else { continue }
            plan.copy(forms[.pack(digest)], from: storage, in: .targets)
            plan.copy(packs[digest], from: storage, in: .targets)
        }
        var copied: [(TreePath.File, PublicationPlan.Step, Int)] = []
        for (name, file) in state.snapshot.files where name.text != "dial" && !state.targets.hasRetired(name.text) {
            copied.append((.role(name.text, version: file.version), .channel, Limits.targetsRole))
        }
        if roles == nil {
            copied.append((.role("dial", version: state.dial.header.version), .dial, Limits.targetsRole))
            copied.append((.role("snapshot", version: state.snapshot.header.version), .snapshot, Limits.snapshot))
            // Not read again: a publish may have happened meanwhile.
            plan.write(state.timestampBytes, to: .tree(.timestamp), in: .timestamp)
        }
        for (file, step, limit) in copied { plan.write(try tree.read(file, limit: limit), to: .tree(file), in: step) }
        for root in state.roots {
            plan.write(root.bytes, to: .tree(.root(version: root.version)), in: .roots)
        }
        try addIndexes(of: packs, listing, needs, to: &plan)
        try addSites(of: state, to: &plan)
        try addPackages(of: state, to: &plan)
        try addExpress(of: state, to: &plan)
        plan.compressRoles()
        return plan
    }

    /// Adds the files that Meteor's clients request from a static host: the files that the page refers to, then the page, then the
    /// manifest.
    private func addSites(of state: PublishedState, to plan: inout PublicationPlan) throws(ServerError) {
        for (channel, site) in try PublishedSites(of: state, in: repository).meteor().sorted(by: { $0.key < $1.key }) {
            func file(_ path: String) -> PublicationPlan.Write.Target? {
                (try? AssetPath("\(MeteorSite.root.dropFirst())\(path)")).map { .tree(.gateway(.meteor, channel, $0)) }
            }
            for asset in site.assets {
                guard let target = AssetURL.decoded(asset.url).flatMap(file) else { continue }
                let digest = asset.fingerprint.sha256
                plan.write(.stored(.object(digest), storage, digest), to: target, in: .gateways)
            }
            if let target = file("/index.html") { plan.write(site.index, to: target, in: .gateways) }
            if let target = file(MeteorSite.manifestName) {
                plan.write(site.manifest, to: target, in: .gateways)
            }
        }
    }

    /// Adds the files that JSPatch's clients request from a static host: the packages, then the sync files that refer to them.
    private func addPackages(of state: PublishedState, to plan: inout PublicationPlan) throws(ServerError) {
        for (channel, sites) in try PublishedSites(of: state, in: repository).packages().sorted(by: { $0.key < $1.key })
        {
            for site in sites {
                func target(_ path: String) -> PublicationPlan.Write.Target? {
                    (try? AssetPath(path)).map { .tree(.gateway(site.gateway, channel, $0)) }
                }
                let files = site.files.sorted { $0.key < $1.key }
                for case (let path, .package(let fingerprint)) in files {
                    guard let target = target(path) else { continue }
                    let digest = fingerprint.sha256
                    plan.write(.stored(.object(digest), storage, digest), to: target, in: .gateways)
                }
                for case (let path, .syncFile(let syncFile)) in files {
                    guard let target = target("\(path)/\(PlatformPlace.indexName)") else { continue }
                    plan.write(syncFile.bytes, to: target, in: .gateways)
                }
            }
        }
    }

    /// Adds the express answer, written before the timestamp.
    ///
    /// All files that it refers to exist by then. If an export is interrupted between the two, it is the newer one. An outdated one
    /// would keep devices that request nothing else on the old state.
    private func addExpress(of state: PublishedState, to plan: inout PublicationPlan) throws(ServerError) {
        let planned = plan.bytes
        let read: ExpressContents.Reading = { file, limit throws(ServerError) in
            if let bytes = planned[file] { return bytes }
            return try tree.read(file, limit: limit)
        }
        let newest = state.root.header.version
        for channel in state.channels.keys.sorted() {
            guard let contents = try ExpressContents(of: channel, app: repository.app, newestRoot: newest, read: read)
            else {
                continue
            }
            let express = try contents.express(for: Express.Known(), read: read)
            plan.write(express.fileBytes, to: .tree(.express(channel)), in: .express)
        }
    }

    /// Makes the indexes anew from the exported packs, which are fewer than the served ones.
    private func addIndexes(
        of packs: [SHA256Digest: [TreePath.File]],
        _ listing: TreeListing,
        _ needs: RoleContents,
        to plan: inout PublicationPlan
    ) throws(ServerError) {
        let manifests = needs.targets.keys.compactMap(\.manifest)
        var exported = listing
        let kept = Set(manifests.flatMap { packs[$0] ?? [] })
        exported.files = listing.files.filter { kept.contains($0.key) || needs.targets[$0.key.plain] != nil }
        let indexes = PackIndexes(exported)
        for manifest in Set(manifests).sorted() {
            let whole = try PackIndexes(listing).wholeBytes(of: manifest, in: storage)
            guard let index = indexes.index(of: manifest, whole: whole) else { continue }
            plan.write(index.json.fileBytes, to: .tree(.packIndex(manifest)), in: .indexes)
        }
    }

    /// The compressed forms in the tree, by their plain file; and the packs from a base, by the manifest that they produce.
    private func forms(
        in listing: TreeListing
    ) -> ([TreePath.File: [TreePath.File]], [SHA256Digest: [TreePath.File]]) {
        let files = listing.files.keys
        var packs: [SHA256Digest: [TreePath.File]] = [:]
        for case .basePack(let pack, let part) in files {
            packs[pack.manifest, default: []].append(.basePack(pack, part))
        }
        return (Dictionary(grouping: files.filter { $0 != $0.plain }, by: \.plain), packs)
    }
}

extension PublicationPlan {
    fileprivate mutating func copy(_ forms: [TreePath.File]?, from storage: any TreeStorage, in step: Step) {
        for form in forms ?? [] { write(.form(form, storage), to: .tree(form), in: step) }
    }

    /// The planned files whose bytes are in memory.
    fileprivate var bytes: [TreePath.File: [UInt8]] {
        var found: [TreePath.File: [UInt8]] = [:]
        for case (.tree(let file), .bytes(let bytes)) in steps.flatMap(\.writes).map({ ($0.target, $0.source) }) {
            found[file] = bytes
        }
        return found
    }

    /// A static host does not compress; our own server compresses a role when it reads it.
    fileprivate mutating func compressRoles() {
        for (step, writes) in steps {
            for case (.tree(let file), .bytes(let bytes)) in writes.map({ ($0.target, $0.source) })
            where file.mayBeCompressed {
                for format in CompressionFormat.allCases {
                    guard let form = try? format.compressed(bytes), CompressionFormat.pays(form.count, for: bytes.count)
                    else { continue }
                    write(form, to: .tree(.compressed(file, format)), in: step)
                }
            }
        }
    }
}

extension PublishedState {
    var versions: FreshRoles.Versions {
        FreshRoles.Versions(
            dial: dial.header.version,
            snapshot: snapshot.header.version,
            timestamp: timestamp.header.version
        )
    }
}
