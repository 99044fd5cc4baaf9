package import PatchFormat

extension ReleaseContents {
    /// The patches that a listed version requires in a version that is not listed.
    package func unmetRequirements(of entry: PatchEntry) -> [PatchID] {
        entry.requires.filter { id, wanted in
            !versions(of: id).contains { wanted.contains($0.fingerprint.sha256) }
        }.keys.sorted()
    }
}
