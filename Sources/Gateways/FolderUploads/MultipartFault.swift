/// Why bytes are not valid `multipart/form-data` (RFC 7578, RFC 2046 §5.1).
package enum MultipartFault: Error, Equatable, Sendable {
    /// The content type has no boundary, or an invalid one.
    case noBoundary
    /// There is no boundary in the first bytes.
    case noDelimiter
    /// A boundary is followed by neither the end of the line nor `--`.
    case badDelimiter
    case longHead
    /// There is not exactly one `Content-Disposition: form-data` with a name.
    case badHead
    case tooManyParts
    /// A field other than a file is too long.
    case longField
    case notUTF8
}
