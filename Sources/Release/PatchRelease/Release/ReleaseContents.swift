package import PatchFormat
import PatchTrust
package import ReleaseFolder

/// The content of a release without its objects: the list, the manifests and the role's header.
package struct ReleaseContents: Sendable {
    package let app: AppID
    package let channel: ChannelName
    package let base: ReleaseHeader.Base?
    package let roleVersion: Int
    package let expires: UTCTime
    package let entryKeys: Set<SHA256Digest>
    package let list: PatchList
    package let manifests: [Label: AssetManifest]

    package init(
        app: AppID,
        channel: ChannelName,
        base: ReleaseHeader.Base?,
        roleVersion: Int,
        expires: UTCTime,
        entryKeys: Set<SHA256Digest>,
        list: PatchList,
        manifests: [Label: AssetManifest]
    ) {
        self.app = app
        self.channel = channel
        self.base = base
        self.roleVersion = roleVersion
        self.expires = expires
        self.entryKeys = entryKeys
        self.list = list
        self.manifests = manifests
    }

    /// Reads a release without verifying it.
    package init(_ release: SignedRelease) throws(ReleaseError) {
        do throws(FormatError) {
            let channel = release.header.channel
            let role = try TargetsRole(release.role, name: channel.text)
            guard let bytes = release.targets[.patchList(channel)] else {
                throw FormatError(
                    "role.json",
                    field: "signed.targets",
                    rule: "must name \(TargetPath.patchList(channel))"
                )
            }
            let parsed = try ParsedPatchList(bytes)
            if let problem = parsed.problems.first { throw FormatError("patch list", rule: problem.error) }
            var manifests: [Label: AssetManifest] = [:]
            for entry in parsed.list.entries where entry.kind == .bundle {
                let path = TargetPath.manifest(channel: channel, patchID: entry.patchID, version: entry.version)
                guard let bytes = release.targets[path] else { continue }
                manifests[entry.label] = try AssetManifest(bytes, named: path.text)
            }
            app = release.header.app
            self.channel = channel
            base = release.header.base
            roleVersion = role.header.version
            expires = role.header.expires
            entryKeys = Set(role.entryKeys.keys.keys)
            list = parsed.list
            self.manifests = manifests
        } catch { throw .format(error) }
    }

    /// Uses a verified release, without reading it again.
    package init(_ verified: VerifiedRelease) {
        app = verified.release.header.app
        channel = verified.release.header.channel
        base = verified.release.header.base
        roleVersion = verified.role.header.version
        expires = verified.role.header.expires
        entryKeys = Set(verified.role.entryKeys.keys.keys)
        list = verified.list.list
        manifests = verified.manifests.mapValues(\.manifest)
    }

    /// The entries of one patch in list order.
    package func versions(of id: PatchID) -> [PatchEntry] {
        list.entries.filter { $0.patchID == id }
    }

    /// Whether devices get the same content from both.
    ///
    /// Expiry is ignored.
    package func listsTheSame(as other: ReleaseContents) -> Bool {
        list.entries == other.list.entries && entryKeys == other.entryKeys
            && list.gateways == other.list.gateways && newlyWithdrawn(since: other).isEmpty
    }

    /// The versions that this list withdraws by name and `base` does not.
    package func newlyWithdrawn(since base: ReleaseContents?) -> [WithdrawnVersion] {
        let known = Set(base?.list.withdrawn ?? [])
        return list.withdrawn.filter { !known.contains($0) }
    }

    /// Whether any version of a patch, or this one, is listed.
    package func lists(_ id: PatchID, version: VersionLabel?) -> Bool {
        list.entries.contains { $0.patchID == id && (version == nil || $0.version == version) }
    }

    /// The row that withdraws a patch or one of its versions already; nil if a withdrawal would change the list.
    package func withdrawal(of id: PatchID, version: VersionLabel?) -> WithdrawnVersion? {
        guard !lists(id, version: version) else { return nil }
        return list.withdrawn.last { $0.patchID == id && (version == nil || $0.version == version) }
    }

    /// The versions of this list that `next` neither lists nor withdraws by name: a later release may list them again.
    package func mayReturn(after next: ReleaseContents) -> [Label] {
        let withdrawn = next.list.withdrawnContents
        return list.entries.filter { entry in
            next.entry(entry.label) == nil
                && withdrawn[entry.patchID]?.contains(entry.fingerprint.sha256) != true
        }.map(\.label)
    }

    package func entry(_ label: Label) -> PatchEntry? {
        list.entries.first { $0.label == label }
    }
}

extension PatchList {
    /// The ids, each once, in list order.
    package var patchIDs: [PatchID] {
        var seen: Set<PatchID> = []
        return entries.map(\.patchID).filter { seen.insert($0).inserted }
    }
}
