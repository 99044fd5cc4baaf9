/// The response to a request for a page that the bundle does not contain.
package enum BundleRouting: String, Sendable {
    /// One page per path: unknown paths get 404, with `404.html` as the body if the bundle contains it.
    case site
    /// One page for all paths: unknown pages get the index.
    case app

    package static let rule = "must be site or app"
}

/// The compression of a file that a bundle contains only in compressed form.
package enum AssetCoding: String, CaseIterable, Sendable {
    case brotli = "br"
    case zstandard = "zstd"
    case gzip

    package static let rule = "must be br, zstd or gzip"

    /// The suffix that the compressed file's name appends to the plain name.
    package var suffix: String {
        switch self {
        case .brotli: ".br"
        case .zstandard: ".zst"
        case .gzip: ".gz"
        }
    }

    /// The name of the content: `a.wasm` for `a.wasm.br`.
    ///
    /// `.unityweb` is accepted for any compression.
    package static func innerName(of path: String) -> String {
        if path.hasSuffix(".svgz") { return "\(path.dropLast(5)).svg" }
        let suffix = (allCases.map(\.suffix) + [".unityweb"]).first { path.hasSuffix($0) }
        return String(path.dropLast(suffix?.count ?? 0))
    }
}

/// A pattern of file paths in a bundle: `*` and `?` match within a name, `**` matches any number of folders.
///
/// `*.html` matches files in the bundle's top folder only, `**/*.html` in every folder, `assets/**` everything below `assets`.
package struct FilePattern: Hashable, Sendable {
    package static let rule =
        "must be a path in the bundle, such as *.html, assets/* or **/*.js; ** must be all between two slashes"
    /// Bounds the cost of a match.
    private static let segmentLimit = 32

    package let text: String
    private let segments: [[UInt8]]

    package init?(_ text: String) {
        let path = text.utf8.first == UInt8(ascii: "/") ? String(text.dropFirst()) : text
        guard !path.isEmpty, path.utf8.count <= 1_024, !path.holdsControlCharacters else { return nil }
        let segments = path.piecesBetweenSlashes
        let isSound = segments.allSatisfy {
            !$0.isEmpty && $0 != "." && $0 != ".." && ($0 == "**" || !$0.contains("**"))
        }
        guard isSound, segments.count <= Self.segmentLimit else { return nil }
        self.text = path
        self.segments = segments.map { Array($0.utf8) }
    }

    package func matches(_ path: String) -> Bool {
        // All positions in the pattern that the names so far can reach. Keeping the set makes matching linear for every pattern.
        var places: Set<Int> = closure([0])
        for name in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            var next: Set<Int> = []
            for place in places where place < segments.count {
                if isAny(place) {
                    next.insert(place)
                } else if Self.matches(segments[place][...], Array(name)[...]) {
                    next.insert(place + 1)
                }
            }
            places = closure(next)
        }
        // `assets/**` matches the files below the folder.
        return places.contains(segments.count)
    }

    private func isAny(_ place: Int) -> Bool { segments[place].count == 2 && segments[place].allSatisfy { $0 == 0x2A } }

    /// Adds the positions after each `**`, which may match zero folders.
    private func closure(_ places: Set<Int>) -> Set<Int> {
        var all = places
        for start in places {
            var place = start
            while place < segments.count, isAny(place) {
                place += 1
                all.insert(place)
            }
        }
        return all
    }

    /// Greedy with one backtracking point: linear space, and no exponential time on hostile patterns.
    private static func matches(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
        var (p, t) = (pattern.startIndex, text.startIndex)
        var retry: (pattern: Int, text: Int)?
        while t < text.endIndex {
            if p < pattern.endIndex, pattern[p] == UInt8(ascii: "*") {
                retry = (p + 1, t)
                p += 1
            } else if p < pattern.endIndex, pattern[p] == text[t] || pattern[p] == UInt8(ascii: "?") {
                p += 1
                t += 1
            } else if let back = retry {
                retry = (back.pattern, back.text + 1)
                (p, t) = (back.pattern, back.text + 1)
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}

/// Response headers that a bundle sets for the files of one pattern.
package struct HeaderRule: Hashable, Sendable {
    package struct Field: Hashable, Sendable {
        /// Spelled as in ``AllowedHeader``.
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package let pattern: FilePattern
    package let fields: [Field]

    package init(pattern: FilePattern, fields: [Field]) {
        self.pattern = pattern
        self.fields = fields
    }

    var json: JSON {
        .fields([
            ("path", .text(pattern.text)), ("fields", .fields(fields.map { ($0.name, .text($0.value)) })),
        ])
    }
}
