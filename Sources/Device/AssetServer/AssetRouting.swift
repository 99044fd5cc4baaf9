import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchFormat

/// The response to a path that is not the URL of a file.
enum AssetRoute: Equatable, Sendable {
    /// A page under another URL than its own, such as the index for `/cart`, or `docs/index.html` for `/docs/`.
    case page(BundleIndex.Row)
    /// A redirect to the URL that the page's relative links expect, such as `/docs` to `/docs/`.
    case redirect(path: String)
    /// Not found. Contains the bundle's page for this, if it has one and the request expects a page.
    case notFound(page: BundleIndex.Row?)
}

extension AssetTable {
    /// The file names of a folder's page.
    private static let folderIndexes = ["index.html", "index.htm"]

    /// Returns the file with this URL.
    ///
    /// URLs of files do not end in a slash.
    func file(at path: RequestPath) -> BundleIndex.Row? {
        path.hasTrailingSlash && !path.segments.isEmpty ? nil : asset(at: path.text)
    }

    /// Returns the response to a path that is not the URL of a file.
    ///
    /// The first match applies: the index for `/` and the bundle's own routes; a folder's page; in a site, a page without its
    /// extension (`/about` is `about.html`); in an app, the index; 404.
    func route(_ request: FileRequest) -> AssetRoute {
        let path = request.path
        if path.segments.isEmpty, let index = indexPage { return .page(index) }
        if let page = routed(request) { return .page(page) }
        let folder = path.text
        let pages = Self.folderIndexes.lazy.compactMap { asset(at: "\(folder)/\($0)") }
        if path.hasTrailingSlash, let page = pages.first { return .page(page) }
        if routing == .site, let page = asset(at: "\(folder).html") {
            return path.hasTrailingSlash ? .redirect(path: Self.encoded(path.segments)) : .page(page)
        }
        if pages.first != nil { return .redirect(path: "\(Self.encoded(path.segments))/") }
        guard ExpectedResponse(request) == .page, path.segments != ["favicon.ico"] else { return .notFound(page: nil) }
        if !hasRoutes, routing != .site {
            return (asset(at: "/200.html") ?? indexPage).map { .page($0) } ?? .notFound(page: nil)
        }
        return .notFound(page: routing == .app ? nil : missingPage(for: path.segments))
    }

    /// Returns the `404.html` of the nearest folder.
    private func missingPage(for segments: [String]) -> BundleIndex.Row? {
        var folder = segments
        while !folder.isEmpty {
            folder.removeLast()
            if let page = asset(at: folder.map { "/\($0)" }.joined() + "/404.html") { return page }
        }
        return nil
    }

    /// Returns the index if the path matches a route of the bundle.
    ///
    /// A route without a wildcard is always a page. `/item/*` matches `/item/7` but not `/item/logo.png`, which names a file.
    private func routed(_ request: FileRequest) -> BundleIndex.Row? {
        guard let route = route(matching: request.path.segments) else { return nil }
        guard !route.text.contains("*") || ExpectedResponse(request) == .page else { return nil }
        return indexPage
    }

    private static func encoded(_ segments: [String]) -> String {
        segments.map { "/\(URLLayout.percentEncoded($0))" }.joined()
    }
}

/// Whether a request for an unknown path expects a page.
///
/// For a missing script, style, image or font the response is 404. A browser would run, show or cache the index instead.
enum ExpectedResponse: Equatable, Sendable {
    case page, other

    init(_ request: FileRequest) {
        let type = ContentType.of(path: request.path.text)
        let isNamedAsFile = type != ContentType.unknown && type != "text/html" && type != "application/xhtml+xml"
        let accepted = request.headers.acceptedTypes
        let wantsHTML = accepted.contains("text/html") || accepted.contains("application/xhtml+xml")
        // No type is preferred, unlike in a request for an image, which lists `image/…` first.
        let takesAnything = accepted.first == "*/*" || request.headers["Accept"].allSatisfy(\.isEmpty)
        let isPage =
            switch request.headers.first(name: "Sec-Fetch-Dest") {
            case "document", "iframe", "frame", "fencedframe": true
            case "embed", "object": !isNamedAsFile
            // A request that a service worker passes on has lost its destination. A navigation still has its mode.
            case "empty" where request.headers.first(name: "Sec-Fetch-Mode") == "navigate": true
            case "empty": !isNamedAsFile && (wantsHTML || takesAnything)
            case nil where wantsHTML: !Self.isPartOfPage(type)
            case nil: !isNamedAsFile && takesAnything
            default: false
            }
        self = isPage ? .page : .other
    }

    /// Whether files of this type are parts of pages.
    ///
    /// Without `Sec-Fetch-Dest`, a request for `readme.md` that accepts HTML counts as
    /// a navigation, one for `main.js` does not.
    private static func isPartOfPage(_ type: String) -> Bool {
        ["image/", "font/", "audio/", "video/"].contains { type.hasPrefix($0) }
            || [
                "text/css", "text/javascript", "application/json", "application/wasm", "application/manifest+json",
                "application/vnd.ms-fontobject",
            ].contains(type)
    }
}
