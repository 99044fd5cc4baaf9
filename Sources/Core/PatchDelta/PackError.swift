package import PatchCompression
package import PatchFormat

/// Why a pack could not be made, or was rejected.
package enum PackError: Error, Equatable, Sendable {
    /// A part of a pack.
    package enum Part: Equatable, Sendable {
        case head
        case group(Int)
    }

    /// The bytes do not begin like a pack of a known version.
    case otherFormat
    case compression(Part, CompressionError)
    /// The head breaks a rule of the format.
    case head(HeadRule)
    /// The manifest header in the head is not valid.
    case malformed(FormatError)
    /// The pack is larger than the limit.
    case tooLong(limit: Int)
    /// The pack needs more bytes of work, read of the base or made, than the limit. The count is the one at the rejection.
    case tooMuch(Int, limit: Int)
    /// A row made from the base's content is larger than the limit.
    case rowTooLarge(AssetPath, limit: Int)
    /// The references of a group are larger than the limit after the tokens were replaced.
    case prefixTooLarge(group: Int, limit: Int)
    /// The pack ends before its last group does.
    case incomplete
    /// Bytes follow the last group.
    case trailing
    /// A content that the manifest names is missing, or has another size than in the manifest.
    case object(SHA256Digest)
    /// The resulting manifest is not the requested one: another base, or damage.
    case otherManifest(SHA256Digest, asked: SHA256Digest)
    /// A reader of packs would write the new manifest with other bytes.
    case otherForm
    case signatures(SignatureRule)

    package enum HeadRule: String, Equatable, Sendable, CaseIterable {
        case size = "does not declare its size, or is longer than its limit"
        case number = "has a number that is cut off, too long, or too large"
        case header = "has no manifest header"
        case rowCount = "has more than 100,000 rows"
        case rowLine = "has a row that is not a path, or a path and other members"
        case rowOrder = "has rows that are not in order"
        case exceptionCount = "has more exceptional rows than rows"
        case exceptionPlace = "names a row that does not exist"
        case kind = "has an unknown kind of row"
        case reference = "names a base row that does not exist or is not needed, or lacks a required one"
        case contentSize = "has a content over 4,000,000,000 bytes, or a reference over 16,777,216"
        case tokens = "has more than 100,000 tokens"
        case unsaid = "omits a row that the base does not have"
        case groupCount = "has a wrong number of groups for its rows"
        case groupSize = "has a group whose sizes exceed its limits"
        case trailing = "has bytes after its end"
    }

    package enum SignatureRule: String, Equatable, Sendable, CaseIterable {
        case length = "do not have the length that the new rows need"
        case column = "do not make the requested column"
    }
}

extension PackError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .otherFormat: "it does not begin with PLP and a known version"
        case .compression(.head, let error): "its head: \(error)"
        case .compression(.group(let number), let error): "its group \(number): \(error)"
        case .head(let rule): "its head \(rule.rawValue)"
        case .malformed(let error): "its head: \(error)"
        case .tooLong(let limit): "it has more than \(limit) bytes"
        case .tooMuch(let size, let limit): "it reads and writes \(size) bytes; the limit is \(limit)"
        case .rowTooLarge(let path, let limit): "\(path) becomes more than \(limit) bytes"
        case .prefixTooLarge(let group, let limit): "its group \(group) refers to more than \(limit) bytes"
        case .incomplete: "it ends early"
        case .trailing: "bytes follow its end"
        case .object(let digest): "the content \(digest) is missing or has the wrong size"
        case .otherManifest(let found, let asked):
            "it makes the manifest \(found) instead of \(asked): its base is another one, or it is damaged"
        case .otherForm: "the manifest is not in the form in which a pack's reader writes it"
        case .signatures(let rule): "its signatures \(rule.rawValue)"
        }
    }
}
