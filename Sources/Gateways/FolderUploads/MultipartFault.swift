/// Why bytes are no `multipart/form-data` (RFC 7578, RFC 2046 §5.1).
package enum MultipartFault: Error, Equatable, Sendable {
    /// The content type names none, or one that may not be.
    case noBoundary
    /// So much comes before the first boundary that there may be none.
    case noDelimiter
    /// Neither the end of the line nor `--` follows a boundary.
    case badDelimiter
    case longHead
    /// No `Content-Disposition: form-data` with a name, or two.
    case badHead
    case tooManyParts
    /// A field that is no file.
    case longField
    case notUTF8
}
