package import PatchCompression
package import PatchFormat

/// Why bytes are not taken as a zip archive: each case is one broken rule.
package enum ZipError: Error, Equatable, Sendable {
    case tooLarge(limit: Int)
    /// Its end has no record of where everything lies.
    case noEnd
    /// So many bytes follow that record: a comment, or something else.
    case bytesBehind(Int)
    /// It is one of several files that make an archive.
    case split
    /// It counts in 64 bits.
    case zip64
    case tooMany(Int, limit: Int)
    /// The list of entries is not where, or not what, the end record says.
    case list(String)
    /// Bytes that belong to no entry, or to two: at this offset.
    case misplaced(at: Int)
    /// All files together.
    case tooLong(limit: Int)
    /// By its name, or by its number where it has none.
    case entry(String, EntryRule)

    package enum EntryRule: Error, Equatable, Sendable {
        case name(AssetPath.Problem)
        case nameNotUTF8
        case doubled
        case encrypted
        /// Its sizes stand behind it (bit 3).
        case streamed
        /// Bits of its flags that nothing here reads.
        case flags(Int)
        case method(Int)
        case symbolicLink
        /// A device, a socket, a pipe; or a folder that is not called one.
        case special
        case folderWithContent
        /// What stands before it is not what the list says of it.
        case contradicts(String)
        /// An extra field that would change its name or sizes.
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
        case .bytesBehind(let count): "has \(Words.bytes(count)) behind its end record, where none may stand"
        case .split: "is one part of a split archive"
        case .zip64: "counts in 64 bits, which no loader reads"
        case .tooMany(let count, let limit): "has \(count) entries, where \(limit) are the most"
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
        case .doubled: "stands twice"
        case .encrypted: "is encrypted"
        case .streamed: "has its sizes behind it, as archives have that were written to a pipe"
        case .flags(let bits): "has flags that are not read (\(bits))"
        case .method(let method): "is packed by method \(method), where 0 (stored) and 8 (deflated) are read"
        case .symbolicLink: "is a symbolic link"
        case .special: "is neither a file nor a folder"
        case .folderWithContent: "is a folder with content"
        case .contradicts(let field): "says another \(field) before its content than in the list"
        case .extra(let id): "has an extra field \(id), which may change its name or sizes"
        case .length(let found, let expected): "has \(found) bytes where \(expected) are announced"
        case .checksum: "does not have its checksum"
        case .compression(let error): "is damaged: \(error)"
        }
    }
}
