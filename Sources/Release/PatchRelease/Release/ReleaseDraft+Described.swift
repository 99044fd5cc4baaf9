package import PatchFormat
package import PatchStore
import PatchTrust
package import SystemPackage

extension ReleaseDraft {
    /// The unsigned entries of the list that a folder describes, with everything that a device's choice depends on.
    ///
    /// - Parameter base: The previous release.
    package static func entries(
        describedIn folder: FilePath,
        base: ReleaseContents?,
        files: any FileOperations,
        progress: @Sendable (PatchID, Int) -> Progress
    ) async throws(SigningError) -> (description: ReleaseDescription, entries: [PatchEntry]) {
        let description = try ReleaseDescription(folder: folder, files: files)
        let look = DescribedFiles(
            folder: folder,
            app: description.app,
            places: description.places,
            base: base,
            created: nil,
            files: files
        )
        var contents = DescribedContents()
        for (index, patch) in description.patches.enumerated() {
            try await look.add(patch, at: index, to: &contents) { progress(patch.patchID, $0) }
        }
        let draft = try ReleaseDraft(contents.patches, base: base)
        let entries = draft.rows.map { row in
            PatchEntry(
                patchID: row.label.patchID,
                kind: row.kind,
                version: row.label.version,
                url: "",
                fingerprint: row.fingerprint,
                signature: row.known ?? EntrySignature(keyID: row.fingerprint.sha256, bytes: []),
                salt: row.salt,
                requires: row.requires,
                rules: row.rules,
                security: row.security,
                place: row.place,
                gateways: row.gateways
            )
        }
        return (description, entries)
    }
}

extension ReleaseDraft {
    /// Whether the release contains the same rows in the same order, with signatures over the same statements.
    func isAlreadyListed(in base: ReleaseContents) -> Bool {
        rows.map(\.label) == base.list.entries.map(\.label) && rows.allSatisfy { $0.known != nil }
    }

    /// Versions marked as security fixes that require a listed version without this mark.
    ///
    /// A device that installs only marked versions automatically installs neither.
    package var unmarkedRequirements: [(label: Label, requires: Label)] {
        rows.filter { $0.security != nil }.flatMap { row in
            row.requires.sorted { $0.key < $1.key }.compactMap { id, digests in
                let listed = rows.filter { $0.label.patchID == id && digests.contains($0.fingerprint.sha256) }
                guard let first = listed.first, listed.allSatisfy({ $0.security == nil }) else { return nil }
                return (row.label, first.label)
            }
        }
    }
}
