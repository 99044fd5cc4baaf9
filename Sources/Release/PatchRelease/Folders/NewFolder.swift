import PatchStore
import SystemPackage

/// A folder that gets its final name once it is complete.
struct NewFolder: Sendable {
    let path: FilePath
    let files: any FileOperations
    private let replaces: Bool

    /// - Parameter replaces: Whether an existing folder may be deleted.
    init(_ path: FilePath, replacing replaces: Bool, files: any FileOperations) {
        self.path = path
        self.replaces = replaces
        self.files = files
    }

    /// - Throws: `.exists` or `.notReplaced` if `path` exists and may not be replaced.
    init(
        _ path: FilePath,
        _ sort: OwnFolder,
        replacing replacement: Replacement,
        files: any FileOperations
    ) throws(SigningError) {
        let exists = try onDisk { () throws(FileError) in try files.status(of: path) } != nil
        self.init(path, replacing: exists, files: files)
        guard exists else { return }
        guard case .ownFolder(at: let place, let kept) = replacement else { throw .exists(path) }
        if let keeper = Replacement.keeper(of: place, among: kept) { throw .notReplaced(path, .kept(keeper)) }
        if let refusal = try onDisk({ () throws(FileError) in try sort.refusal(of: path, files: files) }) {
            throw .notReplaced(path, refusal)
        }
    }

    /// Creates the folder.
    ///
    /// Afterwards the folder that `fill` made is at ``path``, durably; after an error the previous one is unchanged.
    ///
    /// - Parameter fill: Creates the folder at the given path.
    func made<Value>(_ fill: (FilePath) throws(SigningError) -> Value) throws(SigningError) -> Value {
        let new = path.parent.at(".\(path.name ?? "new").new")
        do throws(SigningError) {
            try onDisk { () throws(FileError) in try files.removeTree(new) }
            let value = try fill(new)
            try onDisk { () throws(FileError) in try files.putFolder(new, at: path, replaces: replaces) }
            return value
        } catch {
            try? files.removeTree(new)
            throw error
        }
    }
}
