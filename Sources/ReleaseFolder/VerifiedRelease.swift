package import PatchFormat
package import PatchStore
package import PatchTrust

/// A signed release of which everything but the count of its role's signatures has been checked: the role's form, every
/// target's digest, every entry's and asset's digests and RSA signature, every object's bytes.
package struct VerifiedRelease: Sendable {
    /// How far the role's quorum has come.
    package struct Quorum: Equatable, Sendable {
        package let valid: Int
        package let needed: Int
        package var isComplete: Bool { valid >= needed }

        package init(valid: Int, needed: Int) {
            self.valid = valid
            self.needed = needed
        }
    }

    /// What is asked of an object whose bytes are nowhere at hand.
    package enum LeftOut: Sendable {
        case refused
        /// It is counted: what it must be is known by its entry's digests alone.
        case counted
    }

    /// How much was looked at.
    package struct Counts: Equatable, Sendable {
        package var entries = 0
        package var assets = 0
        package var objects = 0
        /// Objects that were left out, and not looked at.
        package var unseen = 0
        /// RSA signatures of entries and assets that verified.
        package var signatures = 0
    }

    package private(set) var release: SignedRelease
    package let role: TargetsRole
    package let jspatchKeys: JSPatchKeys
    package let list: VerifiedList
    package let manifests: [Label: VerifiedManifest]
    package private(set) var quorum: Quorum
    package let counts: Counts
    private let delegation: Delegation

    /// - Parameters:
    ///   - delegation: what the top targets role says of the channel.
    ///   - elsewhere: an object that the release leaves out and that is at hand: the published tree's copy.
    ///   - leftOut: `counted` for somebody who looks at a release without its objects; a server never does.
    ///   - observe: told of each check that holds, before the first that does not ends it.
    ///   - progress: told of the release's objects.
    package init(
        _ release: SignedRelease,
        delegation: Delegation,
        files: any FileOperations,
        elsewhere: (SHA256Digest) throws(FileError) -> (any FileReader)? = { _ throws(FileError) in nil },
        leftOut: LeftOut = .refused,
        observe: CheckObserver? = nil,
        progress start: ProgressStart = { _ in { _ in } }
    ) throws(ReleaseError) {
        let header = release.header
        let channel = header.channel
        let role: TargetsRole
        do throws(FormatError) {
            role = try TargetsRole(release.role, name: channel.text)
            jspatchKeys = try JSPatchKeys(release.role)
        } catch { throw .format(error) }
        guard role.header.version == header.roleVersion else {
            throw .trust(.wrongVersion(role: channel.text, offered: role.header.version, expected: header.roleVersion))
        }
        observe?(CheckRecord(.nextVersion, of: "\(channel) \(header.roleVersion)"))
        for name in role.targets.keys.sorted() {
            guard delegation.covers(name.text) else {
                throw .trust(.outsideDelegation(role: channel.text, target: name.text))
            }
            observe?(CheckRecord(.delegatedPath, of: name.text))
        }
        func target(_ path: TargetPath) throws(ReleaseError) -> (TargetFile, [UInt8]) {
            guard let file = role.targets[ExactString(path.text)] else {
                throw .trust(.noTarget(role: channel.text, target: path.text))
            }
            guard let bytes = release.targets[path] else { throw .missing(path.text) }
            do throws(TrustError) { try file.check(bytes, name: path.text) } catch { throw .trust(error) }
            if path != .patchList(channel) { observe?(CheckRecord(.targetBytes, of: path.text)) }
            return (file, bytes)
        }
        let (listFile, listBytes) = try target(.patchList(channel))
        let list: VerifiedList
        do throws(TrustError) {
            list = try VerifiedList(
                listBytes,
                for: header.app,
                channel: channel,
                file: listFile,
                role: role,
                observe: observe
            )
        } catch { throw .trust(error) }
        if let refused = list.refused.first { throw .trust(.entry(refused.fault)) }
        var counts = Counts()
        var manifests: [Label: VerifiedManifest] = [:]
        var checked: Set<SHA256Digest> = []
        let progress = start(release.objects.count)
        func object(_ fingerprint: Fingerprint, entry: String) throws(ReleaseError) {
            guard checked.insert(fingerprint.sha256).inserted else { return }
            defer { progress(checked.count) }
            let found: Fingerprint?
            do throws(FileError) {
                if let path = release.objects[fingerprint.sha256] {
                    found = try files.fingerprint(of: path, limit: Limits.object)
                } else {
                    found = try elsewhere(fingerprint.sha256)?.fingerprint()
                }
            } catch { throw .file(error) }
            guard let found else {
                guard leftOut == .counted else {
                    throw .missing("\(entry): \(URLLayout.object(fingerprint.sha256))")
                }
                counts.unseen += 1
                return
            }
            if let field = found.firstDifference(from: fingerprint) {
                throw .trust(.entry(EntryFault(entry: entry, rule: .differs(field))))
            }
            observe?(CheckRecord(.fingerprint, of: entry))
            counts.objects += 1
        }
        for entry in list.entries {
            let label = Label(patchID: entry.patchID, version: entry.version)
            counts.entries += 1
            counts.signatures += 1
            do throws(EntryFault) { try jspatchKeys.check(entry) } catch { throw .trust(.entry(error)) }
            switch entry.kind {
            case .script: try object(entry.fingerprint, entry: label.description)
            case .bundle:
                let (_, bytes) = try target(.manifest(channel: channel, patchID: entry.patchID, version: entry.version))
                let (_, column) = try target(
                    .signatureColumn(channel: channel, patchID: entry.patchID, version: entry.version)
                )
                let manifest: VerifiedManifest
                do throws(TrustError) {
                    manifest = try VerifiedManifest(
                        bytes,
                        column: column,
                        of: entry,
                        app: header.app,
                        keys: role.entryKeys,
                        observe: observe
                    )
                } catch { throw .trust(error) }
                for asset in manifest.manifest.assets {
                    counts.assets += 1
                    counts.signatures += 1
                    try object(asset.fingerprint, entry: "\(label) \(asset.path)")
                }
                manifests[label] = manifest
            }
        }
        do throws(FormatError) { try role.checkHoldsNoMore(release.role, jspatchKeys) } catch { throw .format(error) }
        self.delegation = delegation
        self.release = release
        self.role = role
        self.list = list
        self.manifests = manifests
        self.counts = counts
        let valid = delegation.keys.validSignatures(
            on: release.role,
            role: "\(channel) \(role.header.version)",
            rule: .roleSignature,
            observe: observe
        )
        quorum = Quorum(valid: valid, needed: delegation.keys.threshold)
        progress(max(checked.count, release.objects.count))
    }

    /// The same content with other signatures on its role; nil where it is other content, or the channel's keys are others
    /// now: then all is to be checked again.
    package func counting(_ other: SignedRelease, by now: Delegation) -> VerifiedRelease? {
        guard other.header == release.header, other.role.identity == release.role.identity,
            other.targets == release.targets, other.objects == release.objects, now.keys == delegation.keys,
            now.scope == delegation.scope
        else { return nil }
        var counted = self
        counted.release = other
        counted.quorum = Quorum(valid: now.keys.validSignatures(on: other.role), needed: now.keys.threshold)
        return counted
    }

    /// Of every script and asset.
    package var contents: Set<SHA256Digest> {
        var contents: Set<SHA256Digest> = []
        for entry in list.entries where entry.kind == .script { contents.insert(entry.fingerprint.sha256) }
        for manifest in manifests.values { contents.formUnion(manifest.manifest.assets.map(\.fingerprint.sha256)) }
        return contents
    }
}
