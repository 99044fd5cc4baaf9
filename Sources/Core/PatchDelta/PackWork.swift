import PatchFormat

/// Counts the bytes that a pack has read of the base and made, and compares them with a limit.
///
/// Replacing tokens can turn a few bytes of a reference into many, so both made and read bytes count.
struct PackWork: Equatable, Sendable {
    private(set) var total = 0
    let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    mutating func count(_ bytes: Int) throws(PackError) {
        total += bytes
        guard total <= limit else { throw .tooMuch(total, limit: limit) }
    }
}

extension PackHead {
    /// The work that is known in advance: references that are read, and contents of groups.
    func work(base: PackManifest) -> Int {
        var work = 0
        var rest = [PackHead.Kind.patched, .plain].map { kind in exceptions.filter { $0.kind == kind }[...] }
        for row in exceptions where row.kind == .substituted {
            work += row.reference.map { base.fingerprints[$0].size } ?? 0
        }
        for group in groups {
            let kind = group.isPlain ? 1 : 0
            let rows = rest[kind].prefix(group.rows)
            rest[kind] = rest[kind].dropFirst(group.rows)
            work += rows.reduce(0) { $0 + $1.size }
            guard !group.isPlain else { continue }
            work += Set(rows.compactMap(\.reference)).reduce(0) { $0 + base.fingerprints[$1].size }
        }
        return work
    }
}
