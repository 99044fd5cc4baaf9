import PatchFormat
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// A draft with all files of its rows.
///
/// Signatures turn it into a release.
struct ReleaseAssembly: Sendable {
    let app: AppID
    let channel: ChannelName
    let draft: ReleaseDraft
    let described: DescribedContents
    let base: BaseRelease?
    /// A release whose bundles are carried over unchanged: manifest and signature column are copied byte by byte.
    var source: BaseRelease?
    /// The validity of the role.
    let validity: Duration
    var proposal: ProposalID?

    /// The statements to sign: the list's rows, then the assets of each bundle that is not carried over, in list order.
    func jobs(knownBy key: SHA256Digest) -> [EntrySigning.Job] {
        let rows = draft.rows.map { row in
            EntrySigning.Job(
                statement: statement(of: row),
                known: row.known.flatMap { $0.keyID == key ? $0.bytes : nil }
            )
        }
        let known = KnownAssetSignatures(base, by: key)
        let assets = draft.rows.flatMap { row in
            (takenOver(row.label) == nil ? manifest(of: row.label)?.assets ?? [] : []).map { asset in
                EntrySigning.Job(
                    statement: asset.statement(app: app, patchID: row.label.patchID),
                    known: known.signature(of: asset, patchID: row.label.patchID)
                )
            }
        }
        return rows + assets
    }

    /// - Parameters:
    ///   - signatures: One for each of ``jobs(knownBy:)``.
    ///   - jspatch: The signatures in JSPatch's form, by row, if any.
    ///   - gateways: The packages for JSPatch's clients.
    ///   - packages: The new ones among these packages.
    func release(
        signatures: [[UInt8]],
        by key: PublicKey,
        keeping older: [PublicKey],
        jspatch: JSPatchSigning.Signed,
        gateways: [GatewayPackages],
        making packages: [SHA256Digest: [UInt8]],
        at time: UTCTime
    ) -> SignedRelease {
        let keyID = EntryKeys.id(of: key)
        let entries = zip(zip(draft.rows, jspatch.forms), signatures).map { row, signature in
            entry(row.0, signature: EntrySignature(keyID: keyID, bytes: signature), jspatch: row.1)
        }
        let serial = (base?.contents.list.serial ?? 0) + 1
        let list = PatchList(
            app: app,
            channel: channel,
            serial: serial,
            published: time,
            entries: entries,
            withdrawn: draft.withdrawn(beside: base?.contents.list, inList: serial, at: time, validity: validity),
            gateways: gateways
        )
        var targets: [TargetPath: [UInt8]] = [.patchList(channel): list.json.fileBytes]
        var objects: [SHA256Digest: FilePath] = [:]
        var rest = signatures.dropFirst(entries.count)
        var isWhole = true
        func take(_ digest: SHA256Digest) {
            objects[digest] = object(digest)
            isWhole = isWhole && objects[digest] != nil
        }
        var columnKeys: Set<SHA256Digest> = []
        for row in draft.rows {
            let id = row.label.patchID
            guard let manifest = manifest(of: row.label) else {
                take(row.fingerprint.sha256)
                continue
            }
            for asset in manifest.assets { take(asset.fingerprint.sha256) }
            if let bundle = takenOver(row.label) {
                targets[.manifest(channel: channel, patchID: id, version: row.label.version)] = bundle.manifest
                targets[.signatureColumn(channel: channel, patchID: id, version: row.label.version)] = bundle.column
                columnKeys.insert(bundle.keyID)
                continue
            }
            let column = SignatureColumn(keyID: keyID, signatures: Array(rest.prefix(manifest.assets.count)))
            rest = rest.dropFirst(manifest.assets.count)
            targets[.manifest(channel: channel, patchID: id, version: row.label.version)] = manifest.json.fileBytes
            targets[.signatureColumn(channel: channel, patchID: id, version: row.label.version)] = column.bytes
        }
        for (_, package) in list.gatewayPackages where packages[package.fingerprint.sha256] == nil {
            take(package.fingerprint.sha256)
        }
        let header = ReleaseHeader(
            app: app,
            channel: channel,
            base: base?.header,
            leavesObjectsOut: !isWhole,
            proposal: proposal
        )
        let role = RoleDocument.delegated(
            channel.text,
            app: app,
            version: header.roleVersion,
            expires: time.adding(validity),
            targets: targets.mapValues { TargetFile(of: $0) },
            entryKeys: EntryKeys([key] + (older + keys(columnKeys)).filter { $0 != key }),
            jspatchKeys: jspatch.keys
        )
        return SignedRelease(header: header, role: role, targets: targets, objects: objects, made: packages)
    }

    /// The base's copy is preferred, because it can be linked.
    func object(_ digest: SHA256Digest) -> FilePath? {
        base?.release.objects[digest] ?? source?.release.objects[digest] ?? described.objects[digest]
    }

    private func manifest(of label: Label) -> AssetManifest? {
        described.manifests[label] ?? source?.contents.manifests[label] ?? base?.contents.manifests[label]
    }

    /// The unchanged bundle of the source; nil for a bundle that is not from the source.
    private func takenOver(_ label: Label) -> (manifest: [UInt8], column: [UInt8], keyID: SHA256Digest)? {
        guard let source, let manifest = source.contents.manifests[label] else { return nil }
        let from = source.contents.channel
        guard
            let bytes = source.release.targets[
                .manifest(channel: from, patchID: label.patchID, version: label.version)
            ],
            let column = source.release.targets[
                .signatureColumn(channel: from, patchID: label.patchID, version: label.version)
            ],
            let keyID = (try? SignatureColumn(column, assets: manifest.assets.count))?.keyID
        else { return nil }
        return (bytes, column, keyID)
    }

    private func keys(_ ids: Set<SHA256Digest>) -> [PublicKey] {
        ids.sorted().compactMap { source?.entryKeys.keys[$0] }
    }

    private func statement(of row: ReleaseDraft.Row) -> [UInt8] {
        Statement.patch(
            app: app,
            channel: channel,
            patchID: row.label.patchID,
            kind: row.kind,
            version: row.label.version,
            fingerprint: row.fingerprint
        )
    }

    private func entry(
        _ row: ReleaseDraft.Row,
        signature: EntrySignature,
        jspatch: JSPatchForm?
    ) -> PatchEntry {
        PatchEntry(
            patchID: row.label.patchID,
            kind: row.kind,
            version: row.label.version,
            url: URLLayout.entry(
                kind: row.kind,
                channel: channel,
                patchID: row.label.patchID,
                version: row.label.version,
                sha256: row.fingerprint.sha256
            ),
            fingerprint: row.fingerprint,
            signature: signature,
            salt: row.salt,
            requires: row.requires,
            rules: row.rules,
            security: row.security,
            place: row.place,
            jspatch: jspatch,
            gateways: row.gateways
        )
    }
}
