extension AssetManifest {
    /// Reads a manifest; one broken row refuses the whole of it, for a bundle is complete or not at all.
    package init(_ bytes: [UInt8], named document: String = "manifest") throws(FormatError) {
        let json = try JSON.document(bytes, named: document, limit: Limits.manifest)
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
        var assets: [Asset] = []
        for (index, row) in try fields.array("assets", limit: Limits.assetsInBundle).enumerated() {
            assets.append(try Asset(try Fields(row, of: document, at: "assets[\(index)]")))
        }
        self.init(
            app: try fields.name("app"),
            patchID: try fields.name("patchId"),
            version: try fields.name("version"),
            commit: try fields.optionalString("commit"),
            created: try fields.time("created"),
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
        var folded: [ExactString: AssetPath] = [:]
        var urls: Set<ExactString> = []
        var directories: Set<ExactString> = []
        for (index, asset) in assets.enumerated() {
            if index > 0, !(assets[index - 1].path < asset.path) {
                let rule =
                    assets[index - 1].path == asset.path
                    ? "stands twice" : "must come after the row before it by UTF-8 bytes"
                return ("assets[\(index)].path", rule)
            }
            if let other = folded.updateValue(asset.path, forKey: asset.path.caseFolded) {
                return ("assets[\(index)].path", "\(asset.path) equals \(other) after case folding")
            }
            guard let url = AssetURL.decoded(asset.url) else { return ("assets[\(index)].url", AssetURL.rule) }
            if !urls.insert(ExactString(url)).inserted { return ("assets[\(index)].url", "stands twice") }
            let folders = asset.path.caseFolded.text.piecesBetweenSlashes.dropLast()
            for last in folders.indices { directories.insert(ExactString(folders[...last].joined(separator: "/"))) }
        }
        let paths = Set(assets.map(\.path))
        for (index, asset) in assets.enumerated() {
            if directories.contains(asset.path.caseFolded) {
                return ("assets[\(index)].path", "is both a file and a folder")
            }
            if let map = asset.sourceMap, !paths.contains(map) {
                return ("assets[\(index)].sourceMap", "is not an asset")
            }
        }
        return paths.contains(index) ? nil : ("index", "is not an asset")
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
