package import SystemPackage

/// A folder that no replacement may touch.
package struct KeptFolder: Equatable, Sendable {
    /// What it is to a person: "the source folder".
    package let role: String
    /// Without symbolic links on the way.
    package let path: FilePath
    /// Whether what lies in it stays too; else only the folder and those around it.
    package let keepsContents: Bool

    package init(_ role: String, _ path: FilePath, keepsContents: Bool = true) {
        self.role = role
        self.path = path
        self.keepsContents = keepsContents
    }
}
