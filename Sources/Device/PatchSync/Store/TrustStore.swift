import PatchFormat
package import PatchStore
package import SystemPackage

/// TUF metadata on a device, stored byte for byte as received: `ROLE.json`, and the roots that were followed.
///
/// ```
/// root.json timestamp.json snapshot.json targets.json ROLE.json     role names percent-encoded
/// root_history/N.root.json
/// ```
package struct TrustStore: Sendable {
    let folder: FilePath
    let files: any FileOperations

    package init(folder: FilePath, files: any FileOperations) {
        self.folder = folder
        self.files = files
    }

    func metadata(_ role: String) throws(SyncError) -> [UInt8]? {
        do throws(FileError) {
            return try files.read(folder.at(Self.fileName(role)), limit: Limits.targetsRole)
        } catch .notFound {
            return nil
        } catch { throw .file(error) }
    }

    func has(_ role: String) throws(SyncError) -> Bool {
        do throws(FileError) { return try files.status(of: folder.at(Self.fileName(role))) != nil } catch {
            throw .file(error)
        }
    }

    func save(_ bytes: [UInt8], as role: String) throws(SyncError) {
        do throws(FileError) {
            try files.replace(Self.fileName(role), in: folder, with: bytes)
        } catch { throw .file(error) }
    }

    func forgetOnlineRoles() throws(SyncError) {
        do throws(FileError) {
            for role in ["timestamp", "snapshot"] { try files.removeIfPresent(folder.at(Self.fileName(role))) }
            try files.syncDirectory(folder)
        } catch { throw .file(error) }
    }

    /// Stores a root under its number before it becomes the present one.
    func saveRoot(_ bytes: [UInt8], version: Int) throws(SyncError) {
        do throws(FileError) {
            try files.replace("\(version).root.json", in: history, with: bytes)
            try files.replace("root.json", in: folder, with: bytes)
        } catch { throw .file(error) }
    }

    /// Creates the folders.
    ///
    /// The root is written later.
    func prepare() throws(FileError) {
        try files.makeDirectory(history)
    }

    private var history: FilePath { folder.at("root_history") }

    static func fileName(_ role: String) -> String {
        "\(URLLayout.percentEncoded(role)).json"
    }
}
