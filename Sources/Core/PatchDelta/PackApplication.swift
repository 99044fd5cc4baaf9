import PatchCompression
import PatchFormat

/// Applies the head of a pack to the contents of the base.
struct PackApplication {
    struct Group {
        let rows: [Int]
        /// The size of its contents.
        let size: Int
        /// The length of its frame.
        let length: Int
    }

    private let head: PackHead
    private let base: PackManifest
    private let objects: PackObjects
    private let tokens: TokenSearch
    /// The rows of each group.
    private let members: [[PackHead.ExceptionalRow]]
    private let groups: [Group]
    private var substitutedRows: ArraySlice<PackHead.ExceptionalRow>
    private var fingerprints: [Int: Fingerprint] = [:]
    private var work: PackWork

    /// - Parameter limit: the most bytes that are read of the base and made, together.
    init(_ head: PackHead, base: PackManifest, objects: PackObjects, limit: Int) throws(PackError) {
        (self.head, self.base, self.objects) = (head, base, objects)
        work = PackWork(limit: limit)
        try work.count(head.work(base: base))
        var tokens = Tokens()
        for row in head.exceptions where row.givesTokens {
            guard let reference = row.reference else { continue }
            for pair in Tokens.pairs(base.path(of: reference), head.names.rows[row.row].path) { tokens.insert(pair) }
            guard tokens.count <= PackLimits.tokens else { throw .head(.tokens) }
        }
        self.tokens = TokenSearch(tokens)
        var groups: [[PackHead.ExceptionalRow]] = []
        var rest = [PackHead.Kind.patched, .plain].map { kind in head.exceptions.filter { $0.kind == kind }[...] }
        for group in head.groups {
            let kind = group.isPlain ? 1 : 0
            groups.append(Array(rest[kind].prefix(group.rows)))
            rest[kind] = rest[kind].dropFirst(group.rows)
        }
        members = groups
        self.groups = zip(groups, head.groups).map { members, group in
            Group(rows: members.map(\.row), size: members.reduce(0) { $0 + $1.size }, length: group.length)
        }
        substitutedRows = head.exceptions.filter { $0.kind == .substituted }[...]
        for exception in head.exceptions where exception.kind == .same {
            fingerprints[exception.row] = exception.reference.map { base.fingerprints[$0] }
        }
    }

    /// Returns the next row that the tokens produce, or nil after the last.
    mutating func substituted() throws(PackError) -> (row: Int, bytes: [UInt8])? {
        guard let next = substitutedRows.popFirst(), let reference = next.reference else { return nil }
        let old = try objects.bytes(of: base.fingerprints[reference])
        guard let bytes = tokens.put(into: old, limit: PackLimits.held) else {
            throw .rowTooLarge(head.names.rows[next.row].path, limit: PackLimits.held)
        }
        try work.count(bytes.count)
        return (next.row, bytes)
    }

    func group(_ number: Int) -> Group? { groups.indices.contains(number) ? groups[number] : nil }

    /// Returns the concatenated contents of the rows of a group that fits into memory.
    mutating func content(of number: Int, _ frame: [UInt8]) throws(PackError) -> [UInt8] {
        let prefix = head.groups[number].isPlain ? [] : try prefix(of: number)
        do throws(CompressionError) {
            switch head.groups[number].coding {
            case .zstandard: return try ZstandardPatch.content(of: frame, prefix: prefix, size: groups[number].size)
            case .lzma2: return try LZMAPatch.content(of: frame, prefix: prefix, size: groups[number].size)
            }
        } catch { throw .compression(.group(number), error) }
    }

    /// The byte range of each row in the group's content.
    func places(of number: Int) -> [(row: Int, range: Range<Int>)] {
        var start = 0
        return members[number].map { member in
            defer { start += member.size }
            return (member.row, start..<start + member.size)
        }
    }

    /// The prefix of a group: the contents that its rows refer to, with the tokens replaced, each once.
    private mutating func prefix(of number: Int) throws(PackError) -> [UInt8] {
        var prefix: [UInt8] = []
        var known: Set<Int> = []
        for member in members[number] {
            guard let reference = member.reference, known.insert(reference).inserted else { continue }
            let old = try objects.bytes(of: base.fingerprints[reference])
            guard let bytes = tokens.put(into: old, limit: PackLimits.held - prefix.count) else {
                throw .prefixTooLarge(group: number, limit: PackLimits.held)
            }
            try work.count(bytes.count)
            prefix += bytes
        }
        return prefix
    }

    mutating func take(_ fingerprint: Fingerprint, row: Int) {
        fingerprints[row] = fingerprint
    }

    /// The new manifest.
    ///
    /// Its rows equal those of the base, except for the exceptional ones.
    func manifest() throws(PackError) -> [UInt8] {
        var all: [Fingerprint] = []
        for (row, name) in head.names.rows.enumerated() {
            guard let fingerprint = fingerprints[row] ?? base.row(of: name.path).map({ base.fingerprints[$0] }) else {
                throw .head(.unsaid)
            }
            all.append(fingerprint)
        }
        return head.names.manifest(all)
    }
}
