package import SystemPackage

/// A folder that no replacement may delete.
package struct KeptFolder: Equatable, Sendable {
    /// Its name in messages: "the source folder".
    package let role: String
    /// The path without symbolic links.
    package let path: FilePath
    /// Whether its contents are kept too; else only the folder itself and its parents.
    package let keepsContents: Bool

    package init(_ role: String, _ path: FilePath, keepsContents: Bool = true) {
        self.role = role
        self.path = path
        self.keepsContents = keepsContents
    }
}
