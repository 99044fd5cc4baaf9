import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

extension CheckPass {
    /// Checks that every target of a role exists with the length and digest in the role.
    mutating func checkTargets(of role: TargetsRole?) {
        guard let role else { return }
        for (name, target) in role.targets.sorted(by: { $0.key < $1.key }) {
            guard let path = TargetPath(name.text), let digest = target.sha256 else {
                add(.role(role.name, version: role.header.version), .untrusted, SignedFault.noTarget(name))
                continue
            }
            let file = TreePath.File.target(path, digest)
            guard let found = fingerprint(file, by: "\(role.name) \(role.header.version)") else { continue }
            if found.size != target.length {
                add(file, .altered, SignedFault.length(found.size, signed: target.length), sha256: digest)
            }
        }
    }

    /// Checks a published channel: targets, entries, assets and their signatures, objects, labels.
    mutating func check(_ channel: State.Channel, of name: ChannelName, _ labels: PublishedLabels?) {
        checkTargets(of: channel.role)
        guard let (bytes, file) = target(.patchList(name), of: channel.role) else { return }
        let place = TreePath.File.target(.patchList(name), SHA256Digest(of: bytes))
        let list: VerifiedList
        do throws(TrustError) {
            list = try VerifiedList(bytes, for: repository.app, channel: name, file: file, role: channel.role)
        } catch {
            add(place, TreeFault.Rule(error), "\(error)")
            return
        }
        for refused in list.refused { add(place, .entry, "\(refused.fault)") }
        report.counts.signatures += list.entries.count
        let jspatch = try? JSPatchKeys(channel.envelope)
        for entry in list.entries {
            do throws(EntryFault) { try jspatch?.check(entry) } catch { add(place, .entry, "\(error)") }
            switch entry.kind {
            case .script: check(entry.fingerprint, of: "\(entry.patchID) \(entry.version)", place)
            case .bundle: check(bundle: entry, of: name, channel.role)
            }
        }
        for (line, package) in list.list.gatewayPackages {
            check(package.fingerprint, of: package.label(on: line), place)
        }
        if let labels { check(labels, list.entries, name) }
    }

    private mutating func check(bundle entry: PatchEntry, of channel: ChannelName, _ role: TargetsRole) {
        let label = "\(entry.patchID) \(entry.version)"
        let manifest = TargetPath.manifest(channel: channel, patchID: entry.patchID, version: entry.version)
        let column = TargetPath.signatureColumn(channel: channel, patchID: entry.patchID, version: entry.version)
        guard let (bytes, _) = target(manifest, of: role), let (signatures, _) = target(column, of: role) else {
            return
        }
        do throws(TrustError) {
            let verified = try VerifiedManifest(
                bytes,
                column: signatures,
                of: entry,
                app: repository.app,
                keys: role.entryKeys
            )
            report.counts.signatures += verified.manifest.assets.count
        } catch {
            add(.target(column, SHA256Digest(of: signatures)), .entry, "\(error)")
        }
        guard let assets = try? AssetManifest(bytes, named: manifest.text).assets else { return }
        for asset in assets {
            check(asset.fingerprint, of: "\(label) \(asset.path)", .target(manifest, SHA256Digest(of: bytes)))
        }
    }

    private mutating func check(_ expected: Fingerprint, of entry: String, _ referrer: TreePath.File) {
        guard let found = fingerprint(.object(expected.sha256), by: entry) else { return }
        if let field = found.firstDifference(from: expected) {
            add(referrer, .entry, "\(EntryFault(entry: entry, rule: .differs(field)))")
        }
    }

    /// An intact target, or nil if its fault is already reported.
    private func target(_ path: TargetPath, of role: TargetsRole) -> ([UInt8], TargetFile)? {
        try? repository.tree.target(path, of: role)
    }

    private mutating func check(_ labels: PublishedLabels, _ entries: [PatchEntry], _ channel: ChannelName) {
        let path = "apps/\(repository.app)/labels.json"
        for entry in entries {
            let label = Label(patchID: entry.patchID, version: entry.version)
            let known = labels.rows[label]?.sha256
            guard known != entry.fingerprint.sha256 else { continue }
            let what = known == nil ? "it lacks" : "it has other bytes for"
            report.faults.append(TreeFault(path, .label, "\(what) \(label), which \(channel) publishes"))
        }
    }

    /// Checks that releases available for a rollback are complete.
    ///
    /// Versions above the current one were never published.
    mutating func checkSuperseded(_ state: State) {
        var reader = ContentsReader(repository.tree)
        let current = state.snapshot.header.version
        for version in listing.versions(of: "snapshot") where version < current {
            let file = TreePath.File.role("snapshot", version: version)
            note(file)
            guard let bytes = bytes(file, limit: Limits.snapshot) else { continue }
            report.counts.roles += 1
            if (try? SnapshotRole(Envelope(bytes, role: "snapshot", limit: Limits.snapshot))) == nil {
                add(file, .malformed, "it is not a snapshot")
            }
        }
        for (channel, versions) in listing.channels {
            let published =
                state.retired.contains(channel) ? nil : state.snapshot.files[ExactString(channel.text)]?.version
            for version in versions where version < published ?? 0 || published == nil {
                guard published != nil || version <= state.dropped[channel] ?? 0 else { continue }
                checkSuperseded(channel.text, version, channel, &reader)
            }
        }
        let dial = state.dial?.header.version ?? 0
        for version in listing.versions(of: "dial") where version < dial {
            checkSuperseded("dial", version, nil, &reader)
        }
    }

    private mutating func checkSuperseded(
        _ name: String,
        _ version: Int,
        _ channel: ChannelName?,
        _ reader: inout ContentsReader
    ) {
        let file = TreePath.File.role(name, version: version)
        note(file)
        do throws(ServerError) {
            guard let role = try repository.tree.storedRole(name, version: version) else { return }
            report.counts.roles += 1
            checkTargets(of: role)
            guard let channel, let contents = try? reader.contents(of: role, channel: channel) else { return }
            for digest in contents.objects.keys.sorted() {
                _ = fingerprint(.object(digest), by: "\(name) \(version)")
            }
        } catch { add(file, .malformed, "\(error)") }
    }

    /// Checks the server's own records and its drafts.
    ///
    /// Returns nil if the labels cannot be read.
    mutating func checkRecords() -> PublishedLabels? {
        let records = "apps/\(repository.app)"
        var labels: PublishedLabels?
        do throws(ServerError) { labels = try repository.labels() } catch {
            report.faults.append(TreeFault("\(records)/labels.json", .record, "\(error)"))
        }
        do throws(ServerError) { _ = try repository.tree.versionRecord() } catch {
            report.faults.append(TreeFault("\(records)/\(VersionRecord.name)", .record, "\(error)"))
        }
        if (try? repository.tree.exists(repository.onlineKeyFile)) != true {
            report.faults.append(TreeFault("\(records)/online.key", .record, "it is missing"))
        }
        checkDrafts()
        let incoming = repository.folder.incoming
        for name in (try? repository.files.list(incoming)) ?? [] {
            report.faults.append(TreeFault("incoming/\(name)", .leftover, "no release uses it"))
        }
        return labels
    }

    private mutating func checkDrafts() {
        let (files, folder) = (repository.files, repository.folder.drafts(of: repository.app))
        for name in (try? files.list(folder)) ?? [] {
            let path = "drafts/\(repository.app)/\(name)"
            guard let channel = ChannelName(name) else {
                report.faults.append(TreeFault(path, .stranger, "it is not a channel"))
                continue
            }
            for version in (try? files.list(folder.at(name))) ?? [] {
                do throws(ServerError) {
                    guard let number = Int(version) else {
                        throw .file(.notDirectory(.read, folder.at(version)))
                    }
                    _ = try repository.tree.draft(of: channel, version: number)
                } catch { report.faults.append(TreeFault("\(path)/\(version)", .record, "\(error)")) }
            }
        }
    }
}
