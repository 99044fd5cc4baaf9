package import PatchFormat

/// Versions whose failures a device has forgotten, by id.
package struct ForgottenFailures: Equatable, Sendable {
    /// The next sync may install them.
    package let labels: [Label]
    /// The list does not name them any more: they were withdrawn, and no sync installs them.
    package let unlisted: [Label]

    init(_ forgotten: [Label], unlisted gone: Set<Label>) {
        let all = Set(forgotten).sorted { ($0.patchID, $0.version.text) < ($1.patchID, $1.version.text) }
        labels = all.filter { !gone.contains($0) }
        unlisted = all.filter { gone.contains($0) }
    }
}
