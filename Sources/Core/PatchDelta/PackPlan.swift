import PatchFormat

/// The reference of each new row in the base, and the tokens that follow from it.
///
/// Everything that is decided before compression.
struct PackPlan {
    struct Row {
        let row: Int
        let fingerprint: Fingerprint
        let reference: Int?
        /// Whether the base contains this content under another path.
        let isSame: Bool
        let likeness: Double
        fileprivate(set) var givesTokens = false
    }

    /// The exceptional rows, in order.
    private(set) var rows: [Row] = []
    private(set) var tokens = Tokens()

    init(base: PackManifest, new: PackManifest, objects: PackObjects) throws(PackError) {
        var choice = ReferenceChoice(base: base, new: new) { (row) throws(PackError) in
            try objects.bytes(of: base.fingerprints[row])
        }
        let contents = Self.contents(of: base, choice)
        for (row, fingerprint) in new.fingerprints.enumerated() {
            let path = new.path(of: row)
            if let old = base.row(of: path), base.fingerprints[old] == fingerprint { continue }
            if let old = contents[fingerprint] {
                rows.append(Row(row: row, fingerprint: fingerprint, reference: old, isSame: true, likeness: 1))
                continue
            }
            // A content that is too large for memory is not compared.
            let found =
                fingerprint.size > PackLimits.held
                ? nil : try choice.reference(for: path, try objects.bytes(of: fingerprint))
            rows.append(
                Row(
                    row: row,
                    fingerprint: fingerprint,
                    reference: found?.row,
                    isSame: false,
                    likeness: found?.likeness ?? 0
                )
            )
        }
        choose(from: base, new, choice)
    }

    /// The row of each content of a base.
    ///
    /// Prefers a row whose name no longer exists, because its name may give a token.
    private static func contents(of base: PackManifest, _ choice: ReferenceChoice) -> [Fingerprint: Int] {
        var contents: [Fingerprint: Int] = [:]
        for (row, fingerprint) in base.fingerprints.enumerated() {
            if let other = contents[fingerprint], choice.isRemoved(other) || !choice.isRemoved(row) { continue }
            contents[fingerprint] = row
        }
        return contents
    }

    /// Selects the pairs that give tokens: the closest one of each removed name.
    ///
    /// Names that remain give none.
    private mutating func choose(from base: PackManifest, _ new: PackManifest, _ choice: ReferenceChoice) {
        let closest = rows.indices.sorted { (rows[$1].likeness, $0) < (rows[$0].likeness, $1) }
        for place in closest {
            guard let reference = rows[place].reference, choice.isRemoved(reference) else { continue }
            let pairs = Tokens.pairs(base.path(of: reference), new.path(of: rows[place].row))
            guard !pairs.isEmpty, tokens.count + pairs.count <= PackLimits.tokens,
                !pairs.contains(where: { tokens.contradict($0) })
            else { continue }
            for pair in pairs { tokens.insert(pair) }
            rows[place].givesTokens = true
        }
    }
}
