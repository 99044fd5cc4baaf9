import PatchCompression
import PatchFormat

/// The part before the groups of a pack: the new names, and the source of each row.
struct PackHead: Sendable {
    /// A version of the format.
    ///
    /// The second one adds groups in LZMA2.
    enum Version: UInt8, Sendable {
        case zstandard = 1
        case lzma2 = 2
    }

    static let name = Array("PLP".utf8)

    /// A row that the base does not contain: it has no row of the same path with the same content.
    struct ExceptionalRow: Equatable, Sendable {
        let row: Int
        let kind: Kind
        /// A row of the base.
        let reference: Int?
        /// Whether the paths of the reference and of this row define tokens.
        let givesTokens: Bool
        /// The size in bytes, for a row in a group.
        let size: Int
    }

    enum Kind: Int, Sendable, CaseIterable {
        /// The content of the reference.
        case same
        /// The content of the reference with the tokens replaced.
        case substituted
        /// A content in a group with a prefix.
        case patched
        /// A content in a group without a prefix.
        case plain
    }

    /// One frame: the contents of the next rows of its kind.
    struct Group: Equatable, Sendable {
        let rows: Int
        /// The length of its frame in bytes.
        let length: Int
        let isPlain: Bool
        var coding = GroupCoding.zstandard
    }

    /// The compression of a group's frame.
    enum GroupCoding: Equatable, Sendable {
        case zstandard, lzma2
    }

    let names: PackNames
    let exceptions: [ExceptionalRow]
    let groups: [Group]

    /// The lowest version that the pack needs, so that older readers can read it.
    var version: Version { groups.contains { $0.coding == .lzma2 } ? .lzma2 : .zstandard }

    /// The content of the head's frame.
    ///
    /// Its prefix is the base's head text.
    ///
    /// It is written by column, because similar values compress better next to each other.
    func text(base: PackManifest) -> [UInt8] {
        var text = names.text
        text.append(number: exceptions.count)
        var last = -1
        for exception in exceptions {
            text.append(number: exception.row - last - 1)
            last = exception.row
        }
        for exception in exceptions {
            let flags = (exception.givesTokens ? 4 : 0) + (exception.reference == nil ? 0 : 8)
            text.append(number: exception.kind.rawValue + flags)
        }
        var expected = ExpectedReference()
        for exception in exceptions {
            guard let reference = exception.reference else { continue }
            text.append(difference: reference - expected.of(exception.row))
            expected.take(exception.row, reference)
        }
        for exception in exceptions where exception.kind.isInGroup {
            text.append(difference: exception.size - (exception.reference.map { base.fingerprints[$0].size } ?? 0))
        }
        text.append(number: groups.count)
        for group in groups {
            let plain = group.isPlain ? 1 : 0
            switch version {
            case .zstandard: text.append(number: group.rows * 2 + plain)
            case .lzma2: text.append(number: group.rows * 4 + (group.coding == .lzma2 ? 2 : 0) + plain)
            }
            text.append(number: group.length)
        }
        return text
    }

    /// The beginning of a pack, up to the first group.
    func bytes(base: PackManifest, level: Int) throws(PackError) -> [UInt8] {
        let text = text(base: base)
        guard text.count <= PackLimits.head else { throw .head(.size) }
        let frame: [UInt8]
        do throws(CompressionError) {
            frame = try ZstandardPatch.frame(of: text, prefix: base.names.text, level: level)
        } catch { throw .compression(.head, error) }
        var bytes = Self.name + [version.rawValue]
        bytes.append(number: frame.count)
        return bytes + frame
    }
}

extension PackHead.Kind {
    var isInGroup: Bool {
        switch self {
        case .same, .substituted: false
        case .patched, .plain: true
        }
    }
}

/// The expected reference of the next row: as many rows after the last reference as the row is after the last row.
struct ExpectedReference {
    private var (row, reference) = (-1, -1)

    func of(_ row: Int) -> Int { reference + row - self.row }

    mutating func take(_ row: Int, _ reference: Int) {
        (self.row, self.reference) = (row, reference)
    }
}
