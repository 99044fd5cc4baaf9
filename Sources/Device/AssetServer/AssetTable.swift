package import PatchFormat

/// Maps URL paths to the files of a bundle.
///
/// It uses the bundle's index. Files are not read before a request.
package struct AssetTable: Sendable {
    package let files: any AssetFiles
    private let index: BundleIndex
    private let routes: [RoutePattern]?
    private let tags: [String: String]
    let routing: BundleRouting?
    private let headers: [HeaderRule]

    /// - Parameter tags: Entity tags by path, for files whose tag is not their SHA-256.
    package init(_ index: BundleIndex, files: any AssetFiles, tags: [String: String] = [:]) {
        self.index = index
        self.files = files
        self.tags = tags
        routes = index.routes
        routing = index.routing
        headers = index.headers
    }

    /// The manifest's SHA-256, which identifies the release.
    package var bundle: SHA256Digest { index.manifest }

    func entityTag(of row: BundleIndex.Row) -> String { tags[row.path] ?? row.sha256.hex }

    /// The manifest row for a decoded URL path.
    package func asset(at path: String) -> BundleIndex.Row? {
        index.row(at: path)
    }

    /// The file served for `/` and for client-side routes.
    var indexPage: BundleIndex.Row? { index.index }

    /// Whether the bundle lists its client-side routes.
    ///
    /// Without a list, an app's index answers every unknown page.
    var hasRoutes: Bool { routes != nil }

    func route(matching segments: [String]) -> RoutePattern? {
        routes?.first { $0.matches(segments) }
    }

    /// Returns the response headers that the bundle sets for a file.
    ///
    /// - Parameter own: Lower-case names of the fields that the device's owner sets.
    func fields(of row: BundleIndex.Row, except own: Set<String>) -> ReleaseFields {
        ReleaseFields(headers, for: row.path, except: own)
    }

    /// Returns the URL path of an asset's source map, percent-encoded as in the manifest.
    func sourceMap(of row: BundleIndex.Row) -> String? {
        index.sourceMap(of: row.number)
    }
}
