import PatchDelta
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// The contents of a version that nobody vouches for: what the first pack of two makes, for the second to read.
///
/// They lie in a folder of their own below `Downloading/`, each under the digest that it turned out to have: never served, never
/// linked, no objects, and gone with the sync. A crash leaves them to the next one.
struct IntermediateContents {
    let folder: FilePath
    private let files: any FileOperations
    /// In bytes: of the contents that are written, and of all that the version claims to have.
    let limit: Int
    private var written = 0
    private var current: (any FileWriter)?

    /// - Parameter base: bytes of the contents that it is made from.
    init(in store: DeviceStore, fromBaseOf base: Int) throws(FileError) {
        (folder, files) = (store.intermediate, store.files)
        limit = Self.most(fromBaseOf: base)
        try store.removeIntermediate()
        try files.makeDirectory(folder)
    }

    /// A version has about as much as the one before it: twice that is more than any needs.
    static func most(fromBaseOf base: Int) -> Int { max(PackLimits.held, 2 * base) }

    mutating func take(_ result: PackResult, named name: String) throws(SyncError) {
        if case .piece(let bytes, _) = result {
            written += bytes.count
            guard written <= limit else { throw .pack(name, .tooMuch(written, limit: limit)) }
        }
        do throws(FileError) {
            // An empty content may come without a piece.
            if current == nil { current = try files.create(growing, permissions: .privateFile) }
            switch result {
            case .piece(let bytes, _): try current?.append(bytes)
            case .content(let fingerprint, _):
                try current?.close()
                current = nil
                try files.rename(growing, to: folder.at(fingerprint.sha256.hex))
            }
        } catch { throw .file(error) }
    }

    private var growing: FilePath { folder.at("growing") }
}

extension DeviceStore {
    /// Below `Downloading/`, which a clean-up empties.
    var intermediate: FilePath { downloading.at("intermediate") }

    func removeIntermediate() throws(FileError) {
        if try files.status(of: intermediate) != nil { try files.removeTree(intermediate) }
    }
}
