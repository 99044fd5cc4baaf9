import PatchStore
import SystemPackage

/// A folder that gets its name once everything in it is right.
struct NewFolder: Sendable {
    let path: FilePath
    let files: any FileOperations
    private let replaces: Bool

    /// - Parameter replaces: whether what stands there now may go.
    init(_ path: FilePath, replacing replaces: Bool, files: any FileOperations) {
        self.path = path
        self.replaces = replaces
        self.files = files
    }

    /// - Throws: `.exists` or `.notReplaced` when something stands at `path` and may not be replaced.
    init(
        _ path: FilePath,
        _ sort: OwnFolder,
        replacing replacement: Replacement,
        files: any FileOperations
    ) throws(SigningError) {
        let isThere = try onDisk { () throws(FileError) in try files.status(of: path) } != nil
        self.init(path, replacing: isThere, files: files)
        guard isThere else { return }
        guard case .ownFolder(at: let place, let kept) = replacement else { throw .exists(path) }
        if let keeper = Replacement.keeper(of: place, among: kept) { throw .notReplaced(path, .kept(keeper)) }
        if let refusal = try onDisk({ () throws(FileError) in try sort.refusal(of: path, files: files) }) {
            throw .notReplaced(path, refusal)
        }
    }

    /// Afterwards: what `fill` made stands at ``path``, durably; when it throws, what stood there before.
    ///
    /// - Parameter fill: makes the folder that it is given the name of.
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
