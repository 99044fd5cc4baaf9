import PatchFormat

/// The files of a Meteor app's version: `/__cordova/manifest.json`, which its client stores as `program.json`.
///
/// A manifest is not signed.
package struct MeteorManifest: Equatable, Sendable {
    package static let format = "web-program-pre1"
    static let document = "asset manifest"

    /// A platform of Meteor's clients: `android` or `ios`.
    package enum Platform: String, Sendable, CaseIterable {
        case android, ios
    }

    package let version: String
    /// The hash of platform and plugin versions that a device must have, for the requested platform.
    package let compatibility: String
    /// The assets, with the source maps and without the index page.
    package let assets: [MeteorAsset]

    /// Reads a manifest and ignores the same entries as Meteor's client.
    ///
    /// Entries that could leave the version's folder, or hide one file behind another, are rejected. Meteor's client accepts them.
    package init(_ bytes: [UInt8], for platform: Platform) throws(MeteorError) {
        let object: JSONObject
        do throws(FormatError) {
            let json = try JSON.document(bytes, named: Self.document, limit: Limits.meteorManifest)
            object = try Fields(json, of: Self.document).object
        } catch { throw .manifestSyntax }
        if case .string(let format) = object["format"], format.text != Self.format {
            throw .manifestFormat(format.text)
        }
        guard case .string(let version) = object["version"], Self.isVersion(version.text) else { throw .noVersion }
        guard case .string(let hash) = object["cordovaCompatibilityVersions"]?[platform.rawValue] else {
            throw .noCompatibility
        }
        self.version = version.text
        compatibility = hash.text
        assets = try Self.assets(of: object)
    }

    /// A version becomes the name of a folder on the device and part of messages.
    private static func isVersion(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && !text.holdsControlCharacters
    }

    private static func assets(of object: JSONObject) throws(MeteorError) -> [MeteorAsset] {
        guard case .array(let rows) = object["manifest"] else { return [] }
        var assets: [MeteorAsset] = []
        for (number, row) in rows.enumerated() {
            guard let row = row.object, let entry = Entry(row) else { continue }
            assets += try entry.assets("manifest[\(number)]")
        }
        var (paths, urls): (Set<ExactString>, Set<String>) = ([], [])
        let reserved = [MeteorAsset.index.caseFolded, MeteorAsset.kept.caseFolded]
        var maps: Set<String> = []
        var kept: [MeteorAsset] = []
        for asset in assets {
            // Two files may share one source map.
            if asset.hash == nil, !maps.insert("\(asset.path) \(asset.url)").inserted { continue }
            kept.append(asset)
            guard !reserved.contains(asset.path.caseFolded) else { throw .reserved(asset.path) }
            guard paths.insert(asset.path.caseFolded).inserted else { throw .twice(path: asset.path) }
            guard urls.insert(AssetURL.decoded(asset.url) ?? asset.url).inserted else { throw .twiceURL(asset.url) }
        }
        return kept
    }
}

/// A row that Meteor's client uses: `where` is `client`, and all five members exist.
private struct Entry {
    let url: String
    let path: String
    let type: String
    let hash: String
    let isCacheable: Bool
    let size: Int?
    let sourceMap: (path: String, url: String)?

    init?(_ row: JSONObject) {
        guard case .string("client") = row["where"], case .string(let url) = row["url"],
            case .string(let path) = row["path"], case .string(let type) = row["type"],
            case .string(let hash) = row["hash"], case .bool(let isCacheable) = row["cacheable"]
        else { return nil }
        self.url = url.text
        self.path = path.text
        self.type = type.text
        self.hash = hash.text
        self.isCacheable = isCacheable
        size = if case .integer(let size) = row["size"], size >= 0 { size } else { nil }
        sourceMap =
            if case .string(let map) = row["sourceMap"], case .string(let mapURL) = row["sourceMapUrl"] {
                (map.text, mapURL.text)
            } else { nil }
    }

    /// The file, and its source map if it has one.
    func assets(_ field: String) throws(MeteorError) -> [MeteorAsset] {
        guard let digest = SHA1Digest(hex: hash) else {
            throw .entry(
                FormatError(MeteorManifest.document, field: "\(field).hash", rule: "must be 40 lowercase hex digits")
            )
        }
        let mapURL: String? =
            if let sourceMap { try Self.path(of: sourceMap.url, "\(field).sourceMapUrl") } else { nil }
        let file = MeteorAsset(
            path: try Self.checked(path),
            url: try Self.path(of: url, "\(field).url"),
            type: type,
            isCacheable: isCacheable,
            hash: digest,
            size: size,
            sourceMap: mapURL
        )
        guard let sourceMap, let mapURL else { return [file] }
        let map = try Self.checked(sourceMap.path)
        return [file, MeteorAsset(path: map, url: mapURL, type: "json", isCacheable: true, hash: nil)]
    }

    private static func checked(_ path: String) throws(MeteorError) -> AssetPath {
        do throws(AssetPath.Problem) { return try AssetPath(path) } catch { throw .path(path, error) }
    }

    /// A URL path without its query.
    ///
    /// It is joined to a server's URL, so it must contain neither `..` nor a host.
    private static func path(of url: String, _ field: String) throws(MeteorError) -> String {
        let path = String(url.prefix { $0 != "?" && $0 != "#" })
        guard path != MeteorAsset.indexPage.url, AssetURL.decoded(path) != nil else {
            throw .entry(FormatError(MeteorManifest.document, field: field, rule: AssetURL.rule))
        }
        return path
    }
}
