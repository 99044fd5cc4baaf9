package import PatchFormat

/// Which file of a bundle answers which URL path.
///
/// Looked up in the bundle's index; nothing is read of the files that nobody asks for.
package struct AssetTable: Sendable {
    package let files: any AssetFiles
    private let index: BundleIndex
    private let routes: [RoutePattern]?
    private let tags: [String: String]
    let routing: BundleRouting?
    private let headers: [HeaderRule]

    /// - Parameter tags: entity tags by path, of files whose tag is not their SHA-256.
    package init(_ index: BundleIndex, files: any AssetFiles, tags: [String: String] = [:]) {
        self.index = index
        self.files = files
        self.tags = tags
        routes = index.routes
        routing = index.routing
        headers = index.headers
    }

    /// The manifest's SHA-256: which release this is.
    package var bundle: SHA256Digest { index.manifest }

    func entityTag(of row: BundleIndex.Row) -> String { tags[row.path] ?? row.sha256.hex }

    /// What stands under a decoded URL path in the manifest itself.
    package func asset(at path: String) -> BundleIndex.Row? {
        index.row(at: path)
    }

    /// The file answered for `/` and for client-side routes.
    var indexPage: BundleIndex.Row? { index.index }

    /// Whether the bundle lists its client-side routes; without a list an app's index answers every unknown page.
    var hasRoutes: Bool { routes != nil }

    func route(matching segments: [String]) -> RoutePattern? {
        routes?.first { $0.matches(segments) }
    }

    /// The response headers that the bundle sets for a file.
    ///
    /// - Parameter own: lower-case names that the device's owner decides about.
    func fields(of row: BundleIndex.Row, except own: Set<String>) -> ReleaseFields {
        ReleaseFields(headers, for: row.path, except: own)
    }

    /// The URL path of an asset's source map, percent-encoded as the manifest has it.
    func sourceMap(of row: BundleIndex.Row) -> String? {
        index.sourceMap(of: row.number)
    }
}
