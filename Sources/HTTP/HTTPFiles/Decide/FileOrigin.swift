import Linux
/// The file that an answer was made from: its path and its state.
package struct FileOrigin: Equatable, Sendable {
    let path: String
    let identity: FileIdentity

    init(path: String, identity: FileIdentity) {
        self.path = path
        self.identity = identity
    }

    /// Records the file that `path` leads to now, which is not a symlink.
    ///
    /// Nil if there is none.
    package init?(at path: String) {
        guard let identity = FileIdentity(at: path) else { return nil }
        self.init(path: path, identity: identity)
    }

    /// Whether the path leads to the same file, unchanged.
    package var isCurrent: Bool { FileIdentity(at: path) == identity }
}
