import PatchFormat

extension ReleaseDraft {
    /// The list's properties that packages for JSPatch's clients depend on.
    package var listed: [PackageDraft.Listed] {
        rows.map { row in
            PackageDraft.Listed(
                row.label,
                kind: row.kind,
                sha256: row.fingerprint.sha256,
                rules: row.rules,
                requires: Set(row.requires.keys),
                place: row.place
            )
        }
    }
}
