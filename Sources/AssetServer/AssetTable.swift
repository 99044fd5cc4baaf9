package import PatchFormat

/// Which file of a bundle answers which URL path.
///
/// Looked up in the bundle's index; nothing is read of the files that nobody asks for.
package struct AssetTable: Sendable {
    package let files: any AssetFiles
    private let index: BundleIndex
    private let routes: [RoutePattern]?
    private let tags: [String: String]

    /// - Parameter tags: entity tags by path, of files whose tag is not their SHA-256.
    package init(_ index: BundleIndex, files: any AssetFiles, tags: [String: String] = [:]) {
        self.index = index
        self.files = files
        self.tags = tags
        routes = index.routes
    }

    /// The manifest's SHA-256: which release this is.
    package var bundle: SHA256Digest { index.manifest }

    func entityTag(of row: BundleIndex.Row) -> String { tags[row.path] ?? row.sha256.hex }

    /// What stands under a decoded URL path in the manifest itself.
    package func asset(at path: String) -> BundleIndex.Row? {
        index.row(at: path)
    }

    /// The index for `/` and for a client-side route.
    ///
    /// A bundle that lists no routes has its index everywhere but under `/favicon.ico`, which browsers ask for by
    /// themselves.
    package func route(_ segments: [String]) -> BundleIndex.Row? {
        guard segments != ["favicon.ico"] else { return nil }
        guard segments.isEmpty || (routes.map { $0.contains { $0.matches(segments) } } ?? true) else { return nil }
        return index.index
    }

    /// The URL path of an asset's source map, percent-encoded as the manifest has it.
    func sourceMap(of row: BundleIndex.Row) -> String? {
        index.sourceMap(of: row.number)
    }
}
