/// Which signatures stand for the files of a bundle, beside those of the channel's role.
package enum EntrySignatures: String, CaseIterable, Sendable {
    /// That of the list entry, and of the manifest's entries each its own.
    case required
    /// That of the list entry alone: it covers the manifest's digests, and so every file's.
    ///
    /// The manifest's signature column is neither fetched nor checked.
    case manifest

    package static let rule = "must be required or manifest"
}
