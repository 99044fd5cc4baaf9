package import PatchStore

/// Why a call of the folder's API comes to nothing.
package enum UploaderError: Error, Equatable, Sendable {
    case noSuchCall
    case wrongMethod(allow: String)
    /// A field that a call must have, and has not.
    case missing(String)
    /// A field, or a file, that stands there twice.
    case doubled(String)
    case form(FormFault)
    /// The body is of another type than this call takes.
    case wrongType(wanted: String)
    case multipart(MultipartFault)
    /// What a field names is no path here.
    case badPath(ItemFault)
    /// The folder itself is its owner's.
    case isRoot
    case notFound(ItemPath)
    case notFolder(ItemPath)
    case isFolder(ItemPath)
    /// A folder would become a part of itself.
    case intoItself(ItemPath)
    /// So many of this name are there that no other number is looked for.
    case taken(ItemName)
    case tooManyEntries(ItemPath, limit: Int)
    /// Bytes.
    case tooLarge(limit: Int)
    /// The client went away, or was too slow, before all of it was there.
    case cutOff
    case disk(FileError)
}
