/// What a bundle answers to the path of a page that it does not have.
package enum BundleRouting: String, Sendable {
    /// One page per path: unknown paths are answered with 404, and with `404.html` if the bundle has one.
    case site
    /// One page for all paths: an unknown page is answered with the index.
    case app

    package static let rule = "must be site or app"
}

/// The compression of a file that a bundle holds in compressed form alone.
package enum AssetCoding: String, CaseIterable, Sendable {
    case brotli = "br"
    case zstandard = "zstd"
    case gzip

    package static let rule = "must be br, zstd or gzip"

    /// What such a file's name ends in, after that of the plain one.
    package var suffix: String {
        switch self {
        case .brotli: ".br"
        case .zstandard: ".zst"
        case .gzip: ".gz"
        }
    }

    /// The name of the content: `a.wasm` of `a.wasm.br`; `.unityweb` stands for any compression.
    package static func innerName(of path: String) -> String {
        if path.hasSuffix(".svgz") { return "\(path.dropLast(5)).svg" }
        let suffix = (allCases.map(\.suffix) + [".unityweb"]).first { path.hasSuffix($0) }
        return String(path.dropLast(suffix?.count ?? 0))
    }
}

/// A pattern of file paths in a bundle: `*` and `?` stay within a name, `**` stands for any number of folders.
///
/// `*.html` is in the bundle's top folder alone, `**/*.html` in every folder, `assets/**` everything below `assets`.
package struct FilePattern: Hashable, Sendable {
    package static let rule =
        "must be a path in the bundle, such as *.html, assets/* or **/*.js; ** must be all between two slashes"
    /// Bounds the work of a match.
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
        // The set of places in the pattern that the names so far lead to: linear, whatever the pattern.
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

    /// These places, and those behind each `**`, which may stand for no folder.
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

    /// Greedy with one point of return: linear space, no blow-up on hostile patterns.
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
        /// As ``AllowedHeader`` spells it.
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
