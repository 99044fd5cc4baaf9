import PatchFormat
import PatchCrypto
import PatchTrust
import ReleaseFolder

/// The files that one version of a channel, or a dial, needs in addition to its role.
struct RoleContents: Equatable, Sendable {
    /// The targets by the digest in the name; sizes are from the role.
    var targets: [TreePath.File: Int] = [:]
    /// The scripts, assets and packages; sizes are from the list and the manifests.
    var objects: [SHA256Digest: Int] = [:]

    mutating func merge(_ other: RoleContents) {
        targets.merge(other.targets) { first, _ in first }
        objects.merge(other.objects) { first, _ in first }
    }
}

/// Finds all files that roles need, and reads each manifest once.
struct ContentsReader {
    let tree: AppTree
    private var manifests: [SHA256Digest: [SHA256Digest: Int]] = [:]

    init(_ tree: AppTree) {
        self.tree = tree
    }

    /// The targets of any role.
    func targets(of role: TargetsRole) throws(ServerError) -> RoleContents {
        var contents = RoleContents()
        for (name, file) in role.targets {
            guard let path = TargetPath(name.text) else {
                let error = FormatError(role.name, field: "signed.targets.\(name)", rule: TargetPath.rule)
                throw .tree(tree.app, .malformed(error))
            }
            do throws(TrustError) {
                contents.targets[.target(path, try file.requiredSHA256(of: path.text))] = file.length
            } catch { throw .tree(tree.app, error) }
        }
        return contents
    }

    /// The targets of a channel's role, and the objects in its list and manifests.
    ///
    /// The list and each manifest are compared with their digests; signatures are not checked.
    mutating func contents(of role: TargetsRole, channel: ChannelName) throws(ServerError) -> RoleContents {
        var contents = try targets(of: role)
        let (bytes, _) = try tree.target(.patchList(channel), of: role)
        let list = try list(bytes)
        for (_, package) in list.gatewayPackages {
            contents.objects[package.fingerprint.sha256] = package.fingerprint.size
        }
        for entry in list.entries {
            switch entry.kind {
            case .script: contents.objects[entry.fingerprint.sha256] = entry.fingerprint.size
            case .bundle:
                contents.objects.merge(try assets(of: entry, channel: channel, role)) { first, _ in first }
            }
        }
        return contents
    }

    /// The objects of a release that waits for signatures, stored anywhere.
    func objects(of draft: Draft) -> Set<SHA256Digest> {
        guard let bytes = draft.release.targets[.patchList(draft.channel)], let list = try? list(bytes) else {
            return []
        }
        var objects = Set(list.gatewayPackages.map(\.package.fingerprint.sha256))
        for entry in list.entries {
            let path = TargetPath.manifest(channel: draft.channel, patchID: entry.patchID, version: entry.version)
            switch entry.kind {
            case .script: objects.insert(entry.fingerprint.sha256)
            case .bundle:
                let manifest = draft.release.targets[path].flatMap { try? AssetManifest($0) }
                objects.formUnion(manifest?.assets.map(\.fingerprint.sha256) ?? [])
            }
        }
        return objects
    }

    private func list(_ bytes: [UInt8]) throws(ServerError) -> PatchList {
        do throws(FormatError) { return try ParsedPatchList(bytes).list } catch {
            throw .tree(tree.app, .malformed(error))
        }
    }

    private mutating func assets(
        of entry: PatchEntry,
        channel: ChannelName,
        _ role: TargetsRole
    ) throws(ServerError) -> [SHA256Digest: Int] {
        if let known = manifests[entry.fingerprint.sha256] { return known }
        let path = TargetPath.manifest(channel: channel, patchID: entry.patchID, version: entry.version)
        let (bytes, _) = try tree.target(path, of: role)
        var assets: [SHA256Digest: Int] = [:]
        do throws(FormatError) {
            for asset in try AssetManifest(bytes, named: path.text).assets {
                assets[asset.fingerprint.sha256] = asset.fingerprint.size
            }
        } catch { throw .tree(tree.app, .malformed(error)) }
        manifests[entry.fingerprint.sha256] = assets
        return assets
    }
}

extension AppTree {
    /// A role in the tree, without checking its signatures; nil if it is missing.
    func storedRole(_ name: String, version: Int) throws(ServerError) -> TargetsRole? {
        let file = TreePath.File.role(name, version: version)
        guard let bytes = try storage.read(file, limit: Limits.targetsRole) else { return nil }
        do throws(FormatError) {
            return try TargetsRole(try Envelope(bytes, role: name, limit: Limits.targetsRole), name: name)
        } catch { throw .tree(app, .malformed(error)) }
    }

    /// A target's bytes, checked against its role.
    func target(_ path: TargetPath, of role: TargetsRole) throws(ServerError) -> ([UInt8], TargetFile) {
        guard let file = role.targets[ExactString(path.text)] else {
            throw .tree(app, .noTarget(role: role.name, target: path.text))
        }
        let sha256: SHA256Digest
        do throws(TrustError) { sha256 = try file.requiredSHA256(of: path.text) } catch { throw .tree(app, error) }
        let bytes = try read(.target(path, sha256), limit: Limits.manifest)
        do throws(TrustError) { try file.check(bytes, name: path.text) } catch { throw .tree(app, error) }
        return (bytes, file)
    }
}
