package import PatchFormat

/// Why bytes are not taken as a tar archive: each case is one broken rule.
package enum TarError: Error, Equatable, Sendable {
    case tooLarge(limit: Int)
    /// No whole number of blocks of 512 bytes, or none.
    case length(Int)
    /// No two blocks of zeros after the last entry.
    case noEnd
    /// Something other than zeros behind that end.
    case bytesBehind
    case tooMany(limit: Int)
    /// By its number, from 1 on, where nothing is known of it.
    case header(Int, HeaderRule)
    case entry(String, EntryRule)

    package enum HeaderRule: Error, Equatable, Sendable {
        case notTar
        case checksum
        case nameNotUTF8
        /// A number that is not octal digits: of this field.
        case number(String)
        /// A first part of the name, or times and places that GNU's tar writes there.
        case prefix
    }

    package enum EntryRule: Error, Equatable, Sendable {
        case name(AssetPath.Problem)
        /// It lies in a folder.
        case nested
        case nameTooLong
        case doubled
        case hardLink
        case symbolicLink
        case folder
        /// A device, a pipe, or a header of a later tar that changes what follows.
        case special(UInt8)
        /// A file that names another.
        case linked
        /// It ends before its content does: so many bytes are missing.
        case breaksOff(Int)
        /// Bytes behind its content that are not zero.
        case padding
    }
}

extension TarError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLarge(let limit): "is over \(limit) bytes"
        case .length(let count): "is not a tar archive: \(Words.bytes(count)) are no whole number of blocks of 512"
        case .noEnd: "ends without the two blocks of zeros that end a tar archive"
        case .bytesBehind: "has something behind its end, where only zeros may stand"
        case .tooMany(let limit): "has more than \(limit) entries"
        case .header(let number, let rule): "has an entry \(number) that \(rule)"
        case .entry(let name, let rule): "has an entry \(name) that \(rule)"
        }
    }
}

extension TarError.HeaderRule: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notTar: "does not begin with a header of ustar"
        case .checksum: "does not have its checksum"
        case .nameNotUTF8: "has a name which is not UTF-8"
        case .number(let field): "has a \(field) which is not written in octal digits"
        case .prefix: "has something behind its name and owner, where nothing may stand"
        }
    }
}

extension TarError.EntryRule: CustomStringConvertible {
    package var description: String {
        switch self {
        case .name(let problem): "has a name which \(problem.rawValue)"
        case .nested: "lies in a folder"
        case .nameTooLong: "has a name over 100 bytes"
        case .doubled: "stands twice"
        case .hardLink: "is a hard link"
        case .symbolicLink: "is a symbolic link"
        case .folder: "is a folder"
        case .special(let kind): "is no file but of kind \(kind)"
        case .linked: "names another file"
        case .breaksOff(let missing): "breaks off; \(Words.bytes(missing)) are missing"
        case .padding: "is followed by bytes that are not zero"
        }
    }
}
