package import PatchFormat
package import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// The folder that an app ships, made of what a simulated channel offers now: of each id the first version.
package struct SimulatedEmbedded: Sendable {
    package var documents: [String: [UInt8]] = [:]

    /// - Parameter role: whose version the folder says it was made from; that of the channel now.
    package init(
        of repository: SimulatedRepository,
        channel: ChannelName = SimulatedRepository.production,
        appBuild: String? = nil,
        role: Int? = nil
    ) {
        let tree = repository.tree
        let made = SimulatedDocuments(
            app: tree.app,
            channel: channel,
            patches: tree.offers[channel] ?? [],
            serial: tree.versions[channel.text] ?? 1,
            at: tree.time
        )
        var ids: Set<PatchID> = []
        var patches: [EmbeddedDocument.Patch] = []
        for entry in made.entries where ids.insert(entry.patchID).inserted {
            patches.append(add(entry, of: made, in: channel))
        }
        let document = EmbeddedDocument(
            app: tree.app,
            channel: channel,
            appBuild: appBuild.map(simulated),
            roleVersion: role ?? tree.versions[channel.text] ?? 1,
            patches: patches,
            entryKeys: EntryKeys(tree.entryKeys.map(\.key.publicKey))
        )
        documents[EmbeddedLayout.document] = document.json.fileBytes
        documents[EmbeddedLayout.root] = repository.root
    }

    private mutating func add(_ entry: PatchEntry, of made: SimulatedDocuments, in channel: ChannelName)
        -> EmbeddedDocument.Patch
    {
        let id = entry.patchID
        guard entry.kind == .bundle else {
            documents[EmbeddedLayout.script(id)] = made.objects[entry.fingerprint.sha256] ?? []
            return EmbeddedDocument.Patch(entry, column: nil)
        }
        let manifest = made.targets[.manifest(channel: channel, patchID: id, version: entry.version)] ?? []
        let column = made.targets[.signatureColumn(channel: channel, patchID: id, version: entry.version)] ?? []
        documents[EmbeddedLayout.manifest(id)] = manifest
        documents[EmbeddedLayout.signatureColumn(id)] = column
        for asset in (try? AssetManifest(manifest))?.assets ?? [] {
            documents[EmbeddedLayout.asset(asset.path, of: id)] = made.objects[asset.fingerprint.sha256] ?? []
        }
        return EmbeddedDocument.Patch(entry, column: SHA256Digest(of: column))
    }

    /// Puts it at `folder` in the place of what is there, as the installation of an app does.
    package func install(at folder: FilePath, on files: some FileOperations) throws(FileError) {
        try files.removeTree(folder)
        for (name, bytes) in documents.sorted(by: { $0.key < $1.key }) {
            let path = folder.pushing(FilePath(name))
            try files.makeDirectory(path.parent)
            try files.write(bytes, to: path, permissions: .sealed)
            try files.syncDirectory(path.parent)
        }
    }
}
