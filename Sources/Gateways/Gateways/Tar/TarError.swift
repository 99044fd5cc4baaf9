package import PatchFormat

/// Reasons why bytes are rejected as a tar archive.
///
/// Each case is one broken rule.
package enum TarError: Error, Equatable, Sendable {
    case tooLarge(limit: Int)
    /// The size is 0 or not a multiple of 512 bytes.
    case length(Int)
    /// The two blocks of zeros after the last entry are missing.
    case noEnd
    /// The end is followed by bytes that are not zero.
    case bytesBehind
    case tooMany(limit: Int)
    /// The header with this number, from 1 on, is not valid.
    case header(Int, HeaderRule)
    case entry(String, EntryRule)

    package enum HeaderRule: Error, Equatable, Sendable {
        case notTar
        case checksum
        case nameNotUTF8
        /// The named field is not an octal number.
        case number(String)
        /// The prefix field is in use: the first part of a long name, or times and hole positions that GNU's tar writes there.
        case prefix
    }

    package enum EntryRule: Error, Equatable, Sendable {
        case name(AssetPath.Problem)
        /// The file is in a folder.
        case nested
        case nameTooLong
        case doubled
        case hardLink
        case symbolicLink
        case folder
        /// The entry is a device, a pipe, or a header of a later tar version that changes the meaning of the next entry.
        case special(UInt8)
        /// A file has a link name.
        case linked
        /// The content is truncated. This number of bytes is missing.
        case breaksOff(Int)
        /// The padding after the content is not zero.
        case padding
    }
}

extension TarError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLarge(let limit): "is over \(limit) bytes"
        case .length(let count): "is not a tar archive: \(Words.bytes(count)) are not a multiple of 512"
        case .noEnd: "ends without the two blocks of zeros that end a tar archive"
        case .bytesBehind: "has data after its end, where only zero bytes are valid"
        case .tooMany(let limit): "has more than \(limit) entries"
        case .header(let number, let rule): "has an entry \(number) that \(rule)"
        case .entry(let name, let rule): "has an entry \(name) that \(rule)"
        }
    }
}

extension TarError.HeaderRule: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notTar: "does not begin with a ustar header"
        case .checksum: "has a wrong checksum"
        case .nameNotUTF8: "has a name which is not UTF-8"
        case .number(let field): "has a \(field) which is not written in octal digits"
        case .prefix: "has data after its name and owner"
        }
    }
}

extension TarError.EntryRule: CustomStringConvertible {
    package var description: String {
        switch self {
        case .name(let problem): "has a name which \(problem.rawValue)"
        case .nested: "is in a folder"
        case .nameTooLong: "has a name over 100 bytes"
        case .doubled: "occurs twice"
        case .hardLink: "is a hard link"
        case .symbolicLink: "is a symbolic link"
        case .folder: "is a folder"
        case .special(let kind): "is not a file, but of kind \(kind)"
        case .linked: "names another file"
        case .breaksOff(let missing): "is truncated; \(Words.bytes(missing)) are missing"
        case .padding: "is followed by bytes that are not zero"
        }
    }
}
