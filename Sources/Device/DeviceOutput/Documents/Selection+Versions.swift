package import PatchChoice
package import PatchFormat

extension Selection {
    /// The selection's patches, by id and version.
    package var versionsJSON: JSON {
        .array(
            patches.map { .fields([("patchId", .text($0.patchID.text)), ("version", .text($0.version.text))]) }
        )
    }

    package var words: String { patches.map(\.label.description).joined(separator: ", ") }
}
