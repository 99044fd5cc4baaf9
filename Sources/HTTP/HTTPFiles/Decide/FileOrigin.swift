import Linux
/// The file that an answer is true of: where it was found, and in which state.
package struct FileOrigin: Equatable, Sendable {
    let path: String
    let identity: FileIdentity

    init(path: String, identity: FileIdentity) {
        self.path = path
        self.identity = identity
    }

    /// Of what `path` leads to now, itself no symlink; nil when there is nothing.
    package init?(at path: String) {
        guard let identity = FileIdentity(at: path) else { return nil }
        self.init(path: path, identity: identity)
    }

    /// Whether the file is still the very one, in the same state.
    package var isCurrent: Bool { FileIdentity(at: path) == identity }
}
