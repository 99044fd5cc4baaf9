import PatchFormat

/// The web app manifests that the pages of a bundle link to.
///
/// A browser requests manifests without cookies, so the device serves such files without its cookie. It recognises them by their
/// name or by the content type that the release signs.
struct LinkedManifests: Equatable, Sendable {
    /// The maximum number of header rules added to a bundle.
    private static let most = 8

    /// A link and the first page that contains it.
    struct Link: Equatable, Sendable {
        let page: AssetPath
        let target: String
    }

    /// Manifests that their names do not identify, each with the first page that links to it.
    private(set) var files: [(path: AssetPath, page: AssetPath)] = []
    /// Links to this origin without a matching JSON file in the bundle.
    private(set) var missing: [Link] = []

    static func == (one: Self, other: Self) -> Bool {
        one.missing == other.missing && one.files.elementsEqual(other.files, by: ==)
    }

    static let none = LinkedManifests()

    private init() {}

    /// - Parameter isObject: Returns whether a file of the bundle begins like a JSON object; nil if the file does not exist.
    init(of pages: [(path: AssetPath, links: PageLinks)], isObject: (AssetPath) -> Bool?) {
        var seen: Set<String> = []
        for (page, links) in pages {
            for href in links.manifests {
                guard let path = Self.path(of: href, base: links.base, in: page), seen.insert(path).inserted else {
                    continue
                }
                let file = try? AssetPath(String(path.dropFirst()))
                guard let file, isObject(file) == true else {
                    missing.append(Link(page: page, target: path))
                    continue
                }
                if !WebAppManifest.isNamed(file.text), files.count < Self.most { files.append((file, page)) }
            }
        }
    }

    /// Content type rules for the files without a type in the description.
    ///
    /// - Parameter rules: The rules of the description.
    func rules(besides rules: [HeaderRule]) -> [HeaderRule] {
        untyped(by: rules).compactMap { path, _ in
            FilePattern(path.text).map {
                HeaderRule(pattern: $0, fields: [.init(name: "Content-Type", value: WebAppManifest.contentType)])
            }
        }
    }

    /// Warnings for links that the description should cover.
    func notes(besides rules: [HeaderRule]) -> [BundleNote] {
        let files = untyped(by: rules)
        return (files.isEmpty ? [] : [.manifests(files.map { Link(page: $0.page, target: $0.path.text) })])
            + (missing.isEmpty ? [] : [.missingManifests(missing)])
    }

    private func untyped(by rules: [HeaderRule]) -> [(path: AssetPath, page: AssetPath)] {
        files.filter { path, _ in
            // These characters would make the path a pattern that matches other files too.
            !path.text.utf8.contains { "*?".utf8.contains($0) }
                && !rules.contains { rule in
                    rule.pattern.matches(path.text) && rule.fields.contains { $0.name == "Content-Type" }
                }
        }
    }

    // MARK: URLs

    /// `/` and the decoded path of a link on this origin; nil for other origins and for invalid URLs.
    static func path(of href: String, base: String?, in page: AssetPath) -> String? {
        let own = page.segments.dropLast().map { "/\(URLLayout.percentEncoded($0))" }.joined() + "/"
        guard let folder = base.map({ resolved($0, in: own) }) ?? own,
            let path = resolved(href, in: String(folder[...(folder.lastIndex(of: "/") ?? folder.startIndex)]))
        else { return nil }
        guard path.utf8.count > 1, !path.hasSuffix("/"), let decoded = AssetURL.decoded(path) else { return nil }
        return decoded
    }

    /// - Parameter folder: A path with a trailing slash.
    private static func resolved(_ text: String, in folder: String) -> String? {
        let path = text.prefix { $0 != "#" && $0 != "?" }.trimmed
        // Another origin, or a template's placeholder.
        guard path.utf8.count <= 1_024, !path.hasPrefix("//"), !path.contains(where: { "{}<>$\\".contains($0) }),
            !(path.prefix { $0 != "/" }.contains(":"))
        else { return nil }
        var segments: [String] = []
        let pieces = ((path.hasPrefix("/") ? "" : folder) + path).split(separator: "/", omittingEmptySubsequences: true)
        for piece in pieces {
            switch piece {
            case ".": continue
            case "..": _ = segments.popLast()
            default: segments.append(piece.contains("%") ? String(piece) : URLLayout.percentEncoded(String(piece)))
            }
        }
        let isFolder = path.hasSuffix("/") || path.isEmpty || ["..", "."].contains(pieces.last)
        return "/" + segments.joined(separator: "/") + (isFolder && !segments.isEmpty ? "/" : "")
    }
}

extension Substring {
    fileprivate var trimmed: String {
        let start = drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}
