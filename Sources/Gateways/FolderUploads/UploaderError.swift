package import PatchStore

/// Why a call to the folder's API failed.
package enum UploaderError: Error, Equatable, Sendable {
    case noSuchCall
    case wrongMethod(allow: String)
    /// A required field is missing.
    case missing(String)
    /// A field or a file is repeated.
    case doubled(String)
    case form(FormFault)
    /// The body has another type than this call accepts.
    case wrongType(wanted: String)
    case multipart(MultipartFault)
    /// A field's value is not a valid path.
    case badPath(ItemFault)
    /// The folder itself cannot be changed.
    case isRoot
    case notFound(ItemPath)
    case notFolder(ItemPath)
    case isFolder(ItemPath)
    /// A folder would be moved into itself.
    case intoItself(ItemPath)
    /// All numbered names are taken.
    case taken(ItemName)
    case tooManyEntries(ItemPath, limit: Int)
    /// The limit is in bytes.
    case tooLarge(limit: Int)
    /// The client disconnected, or was too slow, before the upload was complete.
    case cutOff
    case disk(FileError)
}
