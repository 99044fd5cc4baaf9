package import PatchFormat
import PatchCrypto

/// A version of a bundle as a Meteor server would serve it to Meteor's own clients.
///
/// ```
/// /__cordova/manifest.json
/// /__cordova/                the index page, also for paths that are not files
/// /__cordova/app/main.js
/// ```
///
/// The protocol has neither signatures nor expiry, and answers every device alike.
package struct MeteorSite: Equatable, Sendable {
    /// The query that asks for 404 in place of the index page.
    package static let doNotServeIndex = "meteor_dont_serve_index"
    package static let root = "/__cordova"
    package static let manifestName = "/manifest.json"

    package let version: String
    /// The bytes of `manifest.json`.
    package let manifest: [UInt8]
    /// The index page, which contains the manifest's version.
    package let index: [UInt8]
    /// The files except the page.
    package let assets: [Asset]
    private let byURL: [String: Asset]

    /// - Parameters:
    ///   - bundle: A verified bundle.
    ///   - page: The bytes of its index page, which must be a Meteor app's.
    package init(_ bundle: AssetManifest, page: [UInt8]) throws(MeteorError) {
        let config = try MeteorRuntimeConfig(page: page)
        guard config.rootURL != nil else { throw .noRootURL }
        guard config.appID != nil else { throw .noAppID }
        let platforms = MeteorManifest.Platform.allCases.filter { bundle.compatibility[$0.rawValue] != nil }
        guard !platforms.isEmpty else { throw .noCompatibility }
        // The client stores the manifest at this path, and a build leaves its own file there, so that file is not served.
        let served = bundle.assets.filter { $0.path != bundle.index && $0.path != MeteorAsset.kept }
            .map { $0.withMap(of: bundle) }
        var identity = config.identity
        for asset in served { identity += "\(asset.path)\(asset.fingerprint.sha1.hex)".utf8 }
        version = Fingerprint(of: identity).sha1.hex
        index = config.page(page, saying: version)
        manifest = Self.manifest(version, bundle, served)
        assets = served
        byURL = Dictionary(served.map { ($0.url, $0) }) { first, _ in first }
        guard byURL[Self.manifestName] == nil else { throw .manifestPlaceTaken }
        // Rejects a manifest that Meteor's own clients could not read.
        for platform in platforms { _ = try MeteorManifest(manifest, for: platform) }
    }

    private static func manifest(_ version: String, _ bundle: AssetManifest, _ served: [Asset]) -> [UInt8] {
        let maps = Set(served.compactMap(\.sourceMap))
        let rows = served.filter { !maps.contains($0.path) }.map { asset in
            let map = asset.sourceMap.flatMap { bundle[$0] }
            return JSON.fields([
                ("path", .text(asset.path.text)), ("where", .text("client")), ("type", .text(asset.type.meteorText)),
                ("cacheable", .bool(asset.cacheable)), ("url", .text("\(asset.url)?\(asset.fingerprint.sha1.hex)")),
                ("sourceMap", map.map { .text($0.path.text) }), ("sourceMapUrl", map.map { .text($0.url) }),
                ("size", .integer(asset.fingerprint.size)), ("hash", .text(asset.fingerprint.sha1.hex)),
            ])
        }
        let compatibility = bundle.compatibility.sorted { $0.key < $1.key }.map { ($0.key, JSON.text($0.value)) }
        return JSON.fields([
            ("format", .text(MeteorManifest.format)), ("version", .text(version)),
            ("cordovaCompatibilityVersions", .fields(compatibility)), ("manifest", .array(rows)),
        ]).fileBytes
    }

    /// The response to a request.
    package enum Answer: Equatable, Sendable {
        case manifest
        case index
        case asset(Asset)
        case notFound
        case options
        case methodNotAllowed

        package static let allowed = "OPTIONS, GET, HEAD"
    }

    /// - Parameters:
    ///   - path: The path below ``root``, still percent-encoded.
    ///   - query: The query without its question mark.
    package func answer(_ method: String, _ path: String, query: String?) -> Answer {
        switch method {
        case "GET", "HEAD": break
        case "OPTIONS": return .options
        case _: return .methodNotAllowed
        }
        if path == Self.manifestName { return .manifest }
        if let asset = byURL[path] { return .asset(asset) }
        let names = (query ?? "").split(separator: "&").map { $0.prefix { $0 != "=" } }
        return names.contains { $0 == Self.doNotServeIndex } ? .notFound : .index
    }
}

extension AssetType {
    /// The type in a row of a Meteor manifest.
    fileprivate var meteorText: String {
        switch self {
        case .js: "js"
        case .css: "css"
        case .json, .map: "json"
        case .html, .asset: "asset"
        }
    }
}

extension Asset {
    /// The same file with the source map that the release lists, or else the one beside it.
    ///
    /// A release lists no map if a comment in the file refers to one. Meteor's clients and their header need every map.
    fileprivate func withMap(of bundle: AssetManifest) -> Asset {
        guard sourceMap == nil, let map = try? AssetPath("\(path).map"), bundle[map] != nil else { return self }
        return Asset(
            path: path,
            url: url,
            type: type,
            cacheable: cacheable,
            sourceMap: map,
            coding: coding,
            fingerprint: fingerprint
        )
    }
}
