package import PatchFormat
package import SystemPackage

/// Which file of a bundle answers which URL path.
///
/// Pure; made once for each bundle that is served.
package struct AssetTable: Sendable {
    /// What a path leads to.
    package enum Entry: Equatable, Sendable {
        case asset(Asset)
        /// The bundle's index, for a client-side route.
        case index(Asset)
        /// A file of the bundle that is missing or altered on disk; it is served again once a sync has healed it.
        case damaged(AssetPath)
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

    private let locate: @Sendable (Asset) -> Location
    private let assets: [ExactString: Asset]
    private let urls: [AssetPath: String]
    private let index: Asset
    private let routes: [RoutePattern]?
    private let damaged: Set<AssetPath>

    /// - Parameter folder: holds every asset under its path.
    package init?(manifest: AssetManifest, folder: FilePath, damaged: Set<AssetPath> = []) {
        self.init(manifest: manifest, damaged: damaged) { asset in
            Location(path: folder.appending(asset.path.text), root: folder)
        }
    }

    /// - Parameters:
    ///   - damaged: assets that must not be served as they lie there.
    ///   - locate: where an asset lies now; asked at each request.
    /// - Returns: nil when the manifest's index is none of its assets, which a checked manifest never has.
    package init?(
        manifest: AssetManifest,
        damaged: Set<AssetPath>,
        locate: @escaping @Sendable (Asset) -> Location
    ) {
        guard let index = manifest.assets.first(where: { $0.path == manifest.index }) else { return nil }
        self.locate = locate
        self.index = index
        self.damaged = damaged
        routes = manifest.routes
        urls = Dictionary(manifest.assets.map { ($0.path, $0.url) }) { first, _ in first }
        assets = Dictionary(
            manifest.assets.compactMap { asset in
                Self.decoded(asset.url).map { (ExactString($0), asset) }
            }
        ) { first, _ in first }
    }

    /// What stands under a decoded URL path in the manifest itself.
    package func asset(at path: String) -> Entry? {
        guard let asset = assets[ExactString(path)] else { return nil }
        return damaged.contains(asset.path) ? .damaged(asset.path) : .asset(asset)
    }

    /// The index for `/` and for a client-side route.
    ///
    /// A bundle that lists no routes has its index everywhere but under `/favicon.ico`, which browsers ask for by
    /// themselves.
    package func route(_ segments: [String]) -> Entry {
        guard segments != ["favicon.ico"] else { return .nothing }
        guard segments.isEmpty || (routes.map { $0.contains { $0.matches(segments) } } ?? true) else { return .nothing }
        return damaged.contains(index.path) ? .damaged(index.path) : .index(index)
    }

    /// The URL path of an asset's source map, percent-encoded as the manifest has it.
    func sourceMap(of asset: Asset) -> String? {
        asset.sourceMap.flatMap { urls[$0] }
    }

    package func location(of asset: Asset) -> Location {
        locate(asset)
    }

    /// A manifest's URL path without its percent-encoding.
    private static func decoded(_ url: String) -> String? {
        var out: [UInt8] = []
        var rest = Array(url.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                out.append(byte)
                continue
            }
            guard let digits = String(validating: rest.prefix(2), as: UTF8.self)?.lowercased(),
                let value = Hex.bytes(digits)?.first
            else { return nil }
            out.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: out, as: UTF8.self)
    }
}
