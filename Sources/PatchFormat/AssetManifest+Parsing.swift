extension AssetManifest {
    /// Reads a manifest; one broken row refuses the whole of it, for a bundle is complete or not at all.
    package init(_ bytes: [UInt8], named document: String = "manifest") throws(FormatError) {
        guard bytes.count <= Limits.manifest else {
            throw FormatError(document, rule: "is over \(Limits.manifest) bytes")
        }
        try self.init(from: BytesInMemory(bytes), named: document)
    }

    /// The same piece by piece: only its assets are ever held.
    ///
    /// - Parameter source: bounded by its maker; all of it is asked for, also when the manifest is refused.
    package init(from source: some ByteSource, named document: String = "manifest") throws(FormatError) {
        let rows = AssetRows(of: document)
        let json = try JSON.document(from: source, named: document, rows: JSONRows(of: "assets") { rows.take($0) })
        let fields = try Fields(json, of: document)
        try fields.constant("format", Self.format)
        var compatibility: [String: String] = [:]
        if fields.has("compatibility") {
            let platforms = try fields.fields("compatibility")
            for member in platforms.object.members {
                // Two keys may differ in Unicode normal form alone; a dictionary would keep one of them.
                let hash = try platforms.string(member.key.text)
                guard compatibility.updateValue(hash, forKey: member.key.text) == nil else {
                    throw platforms.broken(member.key.text, "stands twice")
                }
            }
        }
        let assets = try rows.all(in: fields)
        self.init(
            app: try fields.name("app"),
            patchID: try fields.name("patchId"),
            version: try fields.name("version"),
            commit: try fields.optionalString("commit"),
            created: fields.has("created") ? try fields.time("created") : nil,
            compatibility: compatibility,
            index: try fields.assetPath("index"),
            routes: fields.has("routes") ? try fields.routes("routes") : nil,
            assets: assets
        )
        if let problem = problem() {
            throw FormatError(document, field: problem.field, rule: problem.rule)
        }
    }

    /// What its rows break together: order, uniqueness, URLs, the index.
    ///
    /// Checked by whoever makes or reads a manifest.
    package func problem() -> (field: String, rule: String)? {
        var folded: [ExactString: Int] = [:]
        var urls: Set<ExactString> = []
        var directories: Set<ExactString> = []
        var lastFolder = ""
        for (index, asset) in assets.enumerated() {
            if index > 0, !(assets[index - 1].path < asset.path) {
                let rule =
                    assets[index - 1].path == asset.path
                    ? "stands twice" : "must come after the row before it by UTF-8 bytes"
                return ("assets[\(index)].path", rule)
            }
            let caseFolded = asset.path.caseFolded
            if let other = folded.updateValue(index, forKey: caseFolded) {
                return ("assets[\(index)].path", "\(asset.path) equals \(assets[other].path) after case folding")
            }
            guard let url = AssetURL.decoded(asset.url) else { return ("assets[\(index)].url", AssetURL.rule) }
            if !urls.insert(ExactString(url)).inserted { return ("assets[\(index)].url", "stands twice") }
            let folder = caseFolded.text.beforeLastSlash
            // Rows are sorted, so a folder's files mostly follow one another.
            if folder.hasSameBytes(as: lastFolder) { continue }
            lastFolder = folder
            let folders = folder.piecesBetweenSlashes
            for last in folders.indices { directories.insert(ExactString(folders[...last].joined(separator: "/"))) }
        }
        for (index, asset) in assets.enumerated() {
            if directories.contains(asset.path.caseFolded) {
                return ("assets[\(index)].path", "is both a file and a folder")
            }
            if let map = asset.sourceMap, self[map] == nil {
                return ("assets[\(index)].sourceMap", "is not an asset")
            }
        }
        return self[index] == nil ? ("index", "is not an asset") : nil
    }
}

/// The rows of a manifest as they come; what is wrong with the first broken one is said when the document is whole.
private final class AssetRows {
    private let document: String
    private var assets: [Asset] = []
    private var count = 0
    private var broken: FormatError?

    init(of document: String) {
        self.document = document
    }

    func take(_ row: JSON) {
        defer { count += 1 }
        guard broken == nil, count < Limits.assetsInBundle else { return }
        do throws(FormatError) {
            assets.append(try Asset(try Fields(row, of: document, at: "assets[\(count)]")))
        } catch { broken = error }
    }

    /// - Parameter fields: the document without these rows.
    func all(in fields: Fields) throws(FormatError) -> [Asset] {
        _ = try fields.array("assets", limit: 0)
        guard count <= Limits.assetsInBundle else {
            throw fields.broken("assets", "must hold at most \(Limits.assetsInBundle) elements")
        }
        if let broken { throw broken }
        return assets
    }
}

extension Fields {
    package func assetPath(_ key: String) throws(FormatError) -> AssetPath {
        let text = try string(key)
        do throws(AssetPath.Problem) {
            return try AssetPath(text)
        } catch {
            throw broken(key, error.rawValue)
        }
    }

    fileprivate func routes(_ key: String) throws(FormatError) -> [RoutePattern] {
        var routes: [RoutePattern] = []
        for text in try strings(key, limit: 1_000) {
            guard let route = RoutePattern(text) else { throw broken(key, RoutePattern.rule) }
            routes.append(route)
        }
        return routes
    }
}

extension Asset {
    fileprivate init(_ fields: Fields) throws(FormatError) {
        guard let type = AssetType(rawValue: try fields.string("type")) else {
            throw fields.broken("type", "must be js, css, html, json, map or asset")
        }
        let url = try fields.string("url")
        guard AssetURL.decoded(url) != nil else { throw fields.broken("url", AssetURL.rule) }
        self.init(
            path: try fields.assetPath("path"),
            url: url,
            type: type,
            cacheable: try fields.bool("cacheable"),
            sourceMap: fields.has("sourceMap") ? try fields.assetPath("sourceMap") : nil,
            fingerprint: try fields.fingerprint()
        )
    }
}
