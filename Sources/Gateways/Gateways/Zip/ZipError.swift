package import PatchCompression
package import PatchFormat

/// Reasons why bytes are rejected as a zip archive.
///
/// Each case is one broken rule.
package enum ZipError: Error, Equatable, Sendable {
    case tooLarge(limit: Int)
    /// The end-of-central-directory record is missing.
    case noEnd
    /// This number of bytes follow the end record: a comment or other data.
    case bytesBehind(Int)
    /// The archive is split into several files.
    case split
    /// The archive uses zip64.
    case zip64
    case tooMany(Int, limit: Int)
    /// The list of entries does not match the end record.
    case list(String)
    /// Bytes at this offset belong to no entry or to two.
    case misplaced(at: Int)
    /// The total of all files exceeds this limit.
    case tooLong(limit: Int)
    /// An entry is not valid: its name, or its number if the name is unreadable.
    case entry(String, EntryRule)

    package enum EntryRule: Error, Equatable, Sendable {
        case name(AssetPath.Problem)
        case nameNotUTF8
        case doubled
        case encrypted
        /// The sizes follow the content (bit 3).
        case streamed
        /// Unsupported flags are set.
        case flags(Int)
        case method(Int)
        case symbolicLink
        /// The entry is a device, a socket or a pipe, or a folder without a trailing slash.
        case special
        case folderWithContent
        /// The local header differs from the list in this field.
        case contradicts(String)
        /// An extra field would change the name or the sizes.
        case extra(Int)
        case length(Int, expected: Int)
        case checksum
        case compression(CompressionError)
    }
}

extension ZipError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLarge(let limit): "is over \(limit) bytes"
        case .noEnd: "is not a zip archive: it has no end record"
        case .bytesBehind(let count): "has \(Words.bytes(count)) after its end record"
        case .split: "is one part of a split archive"
        case .zip64: "is in the ZIP64 form, which loaders do not support"
        case .tooMany(let count, let limit): "has \(count) entries; the limit is \(limit)"
        case .list(let what): "has a list of entries that \(what)"
        case .misplaced(let offset): "has entries that overlap or leave a gap at byte \(offset)"
        case .tooLong(let limit): "has contents of more than \(limit) bytes"
        case .entry(let name, let rule): "has an entry \(name) that \(rule)"
        }
    }
}

extension ZipError.EntryRule: CustomStringConvertible {
    package var description: String {
        switch self {
        case .name(let problem): "has a path which \(problem.rawValue)"
        case .nameNotUTF8: "has a path which is not UTF-8, or not marked as such"
        case .doubled: "occurs twice"
        case .encrypted: "is encrypted"
        case .streamed: "has its sizes after its content, as in archives written to a pipe"
        case .flags(let bits): "has unsupported flags (\(bits))"
        case .method(let method): "uses compression method \(method); only 0 (stored) and 8 (deflated) are supported"
        case .symbolicLink: "is a symbolic link"
        case .special: "is neither a file nor a folder"
        case .folderWithContent: "is a folder with content"
        case .contradicts(let field): "has another \(field) in its local header than in the list of entries"
        case .extra(let id): "has an extra field \(id), which may change its name or sizes"
        case .length(let found, let expected): "has \(found) bytes instead of the declared \(expected)"
        case .checksum: "has a wrong checksum"
        case .compression(let error): "is damaged: \(error)"
        }
    }
}
