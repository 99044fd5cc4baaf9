package import PatchFormat
package import SystemPackage

/// Which file of a bundle answers which URL path.
///
/// Pure, and looked up in the bundle's index: nothing is read of the files that nobody asks for.
package struct AssetTable: Sendable {
    /// What a path leads to.
    package enum Entry: Equatable, Sendable {
        case asset(BundleIndex.Row)
        /// The bundle's index, for a client-side route.
        case index(BundleIndex.Row)
        /// A file of the bundle that is missing or altered on disk; it is served again once a sync has healed it.
        case damaged(path: String)
        case nothing
    }

    /// Where an asset's bytes lie, and the folder below which no symbolic link is followed.
    package struct Location: Sendable {
        package let path: FilePath
        package let root: FilePath

        package init(path: FilePath, root: FilePath) {
            self.path = path
            self.root = root
        }
    }

    private let locate: @Sendable (BundleIndex.Row) -> Location
    private let files: BundleIndex
    private let routes: [RoutePattern]?
    private let damaged: Set<ExactString>

    /// - Parameter folder: holds every asset under its path.
    package init(_ index: BundleIndex, folder: FilePath, damaged: Set<AssetPath> = []) {
        self.init(index, damaged: damaged) { row in Location(path: folder.appending(row.path), root: folder) }
    }

    /// - Parameters:
    ///   - damaged: assets that must not be served as they lie there.
    ///   - locate: where an asset lies now; asked at each request.
    package init(
        _ index: BundleIndex,
        damaged: Set<AssetPath>,
        locate: @escaping @Sendable (BundleIndex.Row) -> Location
    ) {
        files = index
        self.locate = locate
        self.damaged = Set(damaged.map { ExactString($0.text) })
        routes = index.routes
    }

    /// The manifest's SHA-256: which release this is.
    package var bundle: SHA256Digest { files.manifest }

    /// What the manifest says of a decoded URL path.
    func row(at path: String) -> BundleIndex.Row? { files.row(at: path) }

    /// What stands under a decoded URL path in the manifest itself.
    package func asset(at path: String) -> Entry? {
        guard let row = files.row(at: path) else { return nil }
        return damaged.contains(ExactString(row.path)) ? .damaged(path: row.path) : .asset(row)
    }

    /// The index for `/` and for a client-side route.
    ///
    /// A bundle that lists no routes has its index everywhere but under `/favicon.ico`, which browsers ask for by
    /// themselves.
    package func route(_ segments: [String]) -> Entry {
        guard segments != ["favicon.ico"], let index = files.index else { return .nothing }
        guard segments.isEmpty || (routes.map { $0.contains { $0.matches(segments) } } ?? true) else { return .nothing }
        return damaged.contains(ExactString(index.path)) ? .damaged(path: index.path) : .index(index)
    }

    /// The URL path of an asset's source map, percent-encoded as the manifest has it.
    func sourceMap(of row: BundleIndex.Row) -> String? {
        files.sourceMap(of: row.number)
    }

    package func location(of row: BundleIndex.Row) -> Location {
        locate(row)
    }
}
