import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

extension VerifiedRelease {
    /// The checks of a release, each with its own name.
    ///
    /// ``VerifiedRelease`` calls them in order.
    struct ReleaseCheck {
        let role: TargetsRole
        let jspatchKeys: JSPatchKeys
        private let release: SignedRelease
        private let delegation: Delegation
        private var objects: ObjectCheck
        private let observe: CheckObserver?

        /// The role is a valid role of the release's channel.
        init(
            _ release: SignedRelease,
            _ delegation: Delegation,
            _ objects: ObjectCheck,
            _ observe: CheckObserver?
        ) throws(ReleaseError) {
            (self.release, self.delegation, self.objects, self.observe) = (release, delegation, objects, observe)
            do throws(FormatError) {
                role = try TargetsRole(release.role, name: release.header.channel.text)
                jspatchKeys = try JSPatchKeys(release.role)
            } catch { throw .format(error) }
        }

        var counts: Counts { objects.counts }

        private var channel: ChannelName { release.header.channel }

        /// The role is for the release's app, and its version is one above its base's.
        func versionFollowsItsBase() throws(ReleaseError) {
            do throws(TrustError) { try role.header.check(for: release.header.app, role: channel.text) } catch {
                throw .trust(error)
            }
            let (offered, expected) = (role.header.version, release.header.roleVersion)
            guard offered == expected else {
                throw .trust(.wrongVersion(role: channel.text, offered: offered, expected: expected))
            }
            observe?(CheckRecord(.nextVersion, of: "\(channel) \(expected)"))
        }

        /// The role names only targets that were delegated to it.
        func targetsAreDelegated() throws(ReleaseError) {
            for name in role.targets.keys.sorted() {
                guard delegation.covers(name.text) else {
                    throw .trust(.outsideDelegation(role: channel.text, target: name.text))
                }
                observe?(CheckRecord(.delegatedPath, of: name.text))
            }
        }

        /// The list has the role's digest and is for this app and channel.
        ///
        /// An entry key signed every entry.
        func listIsSigned() throws(ReleaseError) -> VerifiedList {
            let (file, bytes) = try target(.patchList(channel))
            let list: VerifiedList
            do throws(TrustError) {
                list = try VerifiedList(
                    bytes,
                    for: release.header.app,
                    channel: channel,
                    file: file,
                    role: role,
                    observe: observe
                )
            } catch { throw .trust(error) }
            if let refused = list.refused.first { throw .trust(.entry(refused.fault)) }
            return list
        }

        /// A key for JSPatch forms signed every form.
        func jspatchFormsAreSigned(in list: VerifiedList) throws(ReleaseError) {
            for entry in list.entries {
                do throws(EntryFault) { try jspatchKeys.check(entry) } catch { throw .trust(.entry(error)) }
            }
        }

        /// Every script and package has the list's digests.
        ///
        /// Every manifest is signed asset by asset, and every asset has its digests.
        mutating func contentsAreSigned(by list: VerifiedList) throws(ReleaseError) -> [Label: VerifiedManifest] {
            var manifests: [Label: VerifiedManifest] = [:]
            for entry in list.entries {
                let label = Label(patchID: entry.patchID, version: entry.version)
                objects.counts.entries += 1
                objects.counts.signatures += 1
                switch entry.kind {
                case .script: try objects.check(entry.fingerprint, of: label.description)
                case .bundle:
                    let manifest = try manifest(of: entry)
                    for asset in manifest.manifest.assets {
                        objects.counts.assets += 1
                        objects.counts.signatures += 1
                        try objects.check(asset.fingerprint, of: "\(label) \(asset.path)")
                    }
                    manifests[label] = manifest
                }
            }
            for (line, package) in list.list.gatewayPackages {
                try objects.check(package.fingerprint, of: package.label(on: line))
            }
            objects.finish()
            return manifests
        }

        /// The role contains only data that this engine would write.
        func roleHoldsNoMore() throws(ReleaseError) {
            do throws(FormatError) { try role.checkHoldsNoMore(release.role, jspatchKeys) } catch {
                throw .format(error)
            }
        }

        /// The number of the channel's keys that signed the role.
        ///
        /// The caller decides whether they are enough.
        func quorum() -> SignatureTally {
            let valid = delegation.keys.validSignatures(
                on: release.role,
                role: "\(channel) \(role.header.version)",
                rule: .roleSignature,
                observe: observe
            )
            return SignatureTally(valid: valid, needed: delegation.keys.threshold)
        }

        private func manifest(of entry: PatchEntry) throws(ReleaseError) -> VerifiedManifest {
            let (id, version) = (entry.patchID, entry.version)
            let (_, bytes) = try target(.manifest(channel: channel, patchID: id, version: version))
            let (_, column) = try target(.signatureColumn(channel: channel, patchID: id, version: version))
            do throws(TrustError) {
                return try VerifiedManifest(
                    bytes,
                    column: column,
                    of: entry,
                    app: release.header.app,
                    keys: role.entryKeys,
                    observe: observe
                )
            } catch { throw .trust(error) }
        }

        /// The bytes of a target, checked against the role's digest.
        private func target(_ path: TargetPath) throws(ReleaseError) -> (TargetFile, [UInt8]) {
            guard let file = role.targets[ExactString(path.text)] else {
                throw .trust(.noTarget(role: channel.text, target: path.text))
            }
            guard let bytes = release.targets[path] else { throw .missing(path.text) }
            do throws(TrustError) { try file.check(bytes, name: path.text) } catch { throw .trust(error) }
            if path != .patchList(channel) { observe?(CheckRecord(.targetBytes, of: path.text)) }
            return (file, bytes)
        }
    }

    /// Checks that objects have their entries' digests, each object once.
    struct ObjectCheck {
        var counts = Counts()
        private var checked: Set<SHA256Digest> = []
        private let release: SignedRelease
        private let files: any FileOperations
        private let elsewhere: (SHA256Digest) throws(FileError) -> (any FileReader)?
        private let leftOut: LeftOut
        private let observe: CheckObserver?
        private let progress: Progress

        init(
            _ release: SignedRelease,
            _ files: any FileOperations,
            _ elsewhere: @escaping (SHA256Digest) throws(FileError) -> (any FileReader)?,
            _ leftOut: LeftOut,
            _ observe: CheckObserver?,
            _ progress: @escaping Progress
        ) {
            (self.release, self.files, self.elsewhere) = (release, files, elsewhere)
            (self.leftOut, self.observe, self.progress) = (leftOut, observe, progress)
        }

        mutating func check(_ fingerprint: Fingerprint, of entry: String) throws(ReleaseError) {
            guard checked.insert(fingerprint.sha256).inserted else { return }
            defer { progress(checked.count) }
            guard let found = try found(fingerprint.sha256) else {
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

        func finish() { progress(max(checked.count, release.objects.count)) }

        private func found(_ digest: SHA256Digest) throws(ReleaseError) -> Fingerprint? {
            do throws(FileError) {
                guard let path = release.objects[digest] else { return try elsewhere(digest)?.fingerprint() }
                return try files.fingerprint(of: path, limit: Limits.object)
            } catch { throw .file(error) }
        }
    }
}
