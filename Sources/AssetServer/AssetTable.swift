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

    package let folder: FilePath
    private let files: BundleIndex
    private let routes: [RoutePattern]?
    private let damaged: Set<ExactString>

    /// - Parameters:
    ///   - folder: holds every asset under its path.
    ///   - damaged: assets that must not be served as they lie there.
    package init(_ index: BundleIndex, folder: FilePath, damaged: Set<AssetPath> = []) {
        files = index
        self.folder = folder
        self.damaged = Set(damaged.map { ExactString($0.text) })
        routes = index.routes
    }

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

    package func file(of row: BundleIndex.Row) -> FilePath {
        folder.appending(row.path)
    }
}
