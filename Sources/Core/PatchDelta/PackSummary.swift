package import PatchFormat

/// The composition of a pack.
package struct PackSummary: Equatable, Sendable {
    /// The size of the whole pack.
    package let bytes: Int
    package let headBytes: Int
    package let groups: Int
    /// Rows whose content the base has under another path, and rows that the tokens produce.
    package let same: Int
    package let substituted: Int
    package let patched: Int
    package let plain: Int

    init(bytes: Int, headBytes: Int, groups: Int, same: Int, substituted: Int, patched: Int, plain: Int) {
        (self.bytes, self.headBytes, self.groups) = (bytes, headBytes, groups)
        (self.same, self.substituted, self.patched, self.plain) = (same, substituted, patched, plain)
    }

    init(_ head: PackHead, headBytes: Int) {
        let kinds = head.exceptions.map(\.kind)
        self.init(
            bytes: head.groups.reduce(headBytes) { $0 + $1.length },
            headBytes: headBytes,
            groups: head.groups.count,
            same: kinds.count { $0 == .same },
            substituted: kinds.count { $0 == .substituted },
            patched: kinds.count { $0 == .patched },
            plain: kinds.count { $0 == .plain }
        )
    }

    /// Reads the head of a pack, without its groups.
    ///
    /// - Parameter limit: the largest size of the pack in bytes.
    package init(of source: some ByteSource, base: PackManifest, limit: Int) throws(PackError) {
        var (input, beginning) = (PackInput(), (version: PackHead.Version, length: Int)?.none)
        while true {
            if beginning == nil { beginning = try input.beginning(limit) }
            if let (version, length) = beginning, let frame = input.take(length) {
                self.init(
                    try PackHead(frame: frame, version: version, base: base),
                    headBytes: input.total - input.count
                )
                return
            }
            guard let piece = source.next() else { throw .incomplete }
            input.append(piece)
        }
    }

    /// The files of the new version that the pack delivers.
    ///
    /// The base has the others under the same paths.
    package var files: Int { same + substituted + patched + plain }

    /// A description such as `3 renamed, 12 by names, 5 patched, 1 plain; solid`.
    package var words: String {
        let counts = [(same, "renamed"), (substituted, "by names"), (patched, "patched"), (plain, "plain")]
        let kinds = counts.filter { $0.0 > 0 }.map { "\(Words.grouped($0.0)) \($0.1)" }.joined(separator: ", ")
        guard files > 0 else { return "the manifest alone" }
        let compressed = patched + plain
        return kinds + (compressed < 2 ? "" : groups < compressed ? "; solid" : "; one by one")
    }

    package var json: JSON {
        .fields([
            ("files", .integer(files)), ("renamed", .integer(same)), ("byNames", .integer(substituted)),
            ("patched", .integer(patched)), ("plain", .integer(plain)), ("streams", .integer(groups)),
        ])
    }
}
