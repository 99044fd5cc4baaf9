import PatchFormat
import PatchTrust
import ReleaseFolder
import SystemPackage

/// A draft with everything that its rows lead to, and how signatures turn it into a release.
struct ReleaseAssembly: Sendable {
    let app: AppID
    let channel: ChannelName
    let draft: ReleaseDraft
    let described: DescribedContents
    let base: BaseRelease?

    /// What is to be signed: the list's rows, then the assets of each bundle, in list order.
    func jobs(knownBy key: SHA256Digest) -> [EntrySigning.Job] {
        let rows = draft.rows.map { row in
            EntrySigning.Job(
                statement: statement(of: row),
                known: row.known.flatMap { $0.keyID == key ? $0.bytes : nil }
            )
        }
        let known = KnownAssetSignatures(base, by: key)
        let assets = draft.rows.flatMap { row in
            (manifest(of: row.label)?.assets ?? []).map { asset in
                EntrySigning.Job(
                    statement: asset.statement(app: app, patchID: row.label.patchID),
                    known: known.signature(of: asset, patchID: row.label.patchID)
                )
            }
        }
        return rows + assets
    }

    /// - Parameters:
    ///   - signatures: one for each of ``jobs(knownBy:)``.
    ///   - jspatch: for each row its signatures in JSPatch's form, if it has them.
    func release(
        signatures: [[UInt8]],
        by key: PublicKey,
        keeping older: [PublicKey],
        jspatch: JSPatchSigning.Signed,
        at time: UTCTime,
        expires: UTCTime
    ) -> SignedRelease {
        let keyID = EntryKeys.id(of: key)
        let entries = zip(zip(draft.rows, jspatch.forms), signatures).map { row, signature in
            entry(row.0, signature: EntrySignature(keyID: keyID, bytes: signature), jspatch: row.1)
        }
        let list = PatchList(
            app: app,
            channel: channel,
            serial: (base?.contents.list.serial ?? 0) + 1,
            published: time,
            entries: entries
        )
        var targets: [TargetPath: [UInt8]] = [.patchList(channel): list.json.fileBytes]
        var objects: [SHA256Digest: FilePath] = [:]
        var rest = signatures.dropFirst(entries.count)
        for row in draft.rows {
            let id = row.label.patchID
            guard let manifest = manifest(of: row.label) else {
                objects[row.fingerprint.sha256] = object(row.fingerprint.sha256)
                continue
            }
            let column = SignatureColumn(keyID: keyID, signatures: Array(rest.prefix(manifest.assets.count)))
            rest = rest.dropFirst(manifest.assets.count)
            targets[.manifest(channel: channel, patchID: id, version: row.label.version)] = manifest.json.fileBytes
            targets[.signatureColumn(channel: channel, patchID: id, version: row.label.version)] = column.bytes
            for asset in manifest.assets { objects[asset.fingerprint.sha256] = object(asset.fingerprint.sha256) }
        }
        let header = ReleaseHeader(app: app, channel: channel, base: base?.header)
        let role = RoleDocument.delegated(
            channel.text,
            version: header.roleVersion,
            expires: expires,
            targets: targets.mapValues { TargetFile(of: $0) },
            entryKeys: EntryKeys([key] + older.filter { $0 != key }),
            jspatchKeys: jspatch.keys
        )
        return SignedRelease(header: header, role: role, targets: targets, objects: objects)
    }

    /// The base's copy first: it can be linked.
    private func object(_ digest: SHA256Digest) -> FilePath? {
        base?.release.objects[digest] ?? described.objects[digest]
    }

    private func manifest(of label: Label) -> AssetManifest? {
        described.manifests[label] ?? base?.contents.manifests[label]
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
            jspatch: jspatch
        )
    }
}
