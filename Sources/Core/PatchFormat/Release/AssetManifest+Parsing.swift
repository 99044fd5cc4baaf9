extension AssetManifest {
    /// Reads a manifest.
    ///
    /// One invalid row rejects the whole manifest, because a bundle is complete or not installed at all.
    package init(_ bytes: [UInt8], named document: String = "manifest") throws(FormatError) {
        guard bytes.count <= Limits.manifest else {
            throw FormatError(document, rule: "is over \(Limits.manifest) bytes")
        }
        try self.init(from: BytesInMemory(bytes), named: document)
    }

    /// Reads a manifest in pieces, keeping only its assets in memory.
    ///
    /// - Parameter source: bounded by its creator; it is read to the end even if the manifest is rejected.
    package init(from source: some ByteSource, named document: String = "manifest") throws(FormatError) {
        let rows = AssetRows(of: document)
        let json = try JSON.document(from: source, named: document, rows: JSONRows(of: "assets") { rows.take($0) })
        let fields = try Fields(json, of: document)
        try fields.constant("format", Self.format)
        let compatibility = fields.has("compatibility") ? try fields.compatibility("compatibility") : [:]
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
            routing: fields.has("routing") ? try fields.routing("routing") : nil,
            headers: fields.has("headers") ? try fields.headerRules("headers") : [],
            assets: assets
        )
        if let problem = problem() {
            throw FormatError(document, field: problem.field, rule: problem.rule)
        }
    }

    /// Checks the rules that concern all rows together: order, uniqueness, URLs, the index page and the limits.
    ///
    /// Writers and readers of a manifest both call it.
    package func problem() -> (field: String, rule: String)? {
        if compatibility.count > Limits.compatibility {
            return ("compatibility", "must hold at most \(Limits.compatibility) members")
        }
        if routes?.count ?? 0 > Limits.routesInBundle {
            return ("routes", "must hold at most \(Limits.routesInBundle) elements")
        }
        if let rule = HeaderRule.problem(of: headers) { return ("headers", rule) }
        var names = BundleNames()
        for (index, asset) in assets.enumerated() {
            if let rule = rule(brokenBy: asset, at: index, among: &names) { return ("assets[\(index)].path", rule) }
            guard let url = AssetURL.decoded(asset.url) else { return ("assets[\(index)].url", AssetURL.rule) }
            if !names.insert(url: url) { return ("assets[\(index)].url", "is listed twice") }
        }
        for (index, asset) in assets.enumerated() {
            if names.isFolder(row: index) { return ("assets[\(index)].path", "is both a file and a folder") }
            if let map = asset.sourceMap, self[map] == nil {
                return ("assets[\(index)].sourceMap", "is not an asset")
            }
        }
        return self[index] == nil ? ("index", "is not an asset") : nil
    }

    /// Returns the rule that the path of this row breaks with regard to the rows before it.
    private func rule(brokenBy asset: Asset, at index: Int, among names: inout BundleNames) -> String? {
        if index > 0, !(assets[index - 1].path < asset.path) {
            return assets[index - 1].path == asset.path
                ? "is listed twice" : "must follow the previous row in the order of UTF-8 bytes"
        }
        switch names.insert(asset.path) {
        case .taken: return nil
        case .equals(let other): return "\(asset.path) equals \(assets[other].path) after case folding"
        case .tooDeep: return "is in more than \(Limits.folderDepth) folders"
        case .tooManyFolders: return "makes more than \(Limits.foldersInBundle) folders"
        }
    }
}

/// Collects the rows of a manifest while it is read.
///
/// An error in a row is reported once the whole document has been read.
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

    fileprivate func compatibility(_ key: String) throws(FormatError) -> [String: String] {
        let platforms = try members(of: key, limit: Limits.compatibility)
        var hashes: [String: String] = [:]
        for member in platforms.object.members {
            guard case .string(let hash) = member.value else {
                throw platforms.broken(member.key.text, "must be a string")
            }
            // Two keys may differ in Unicode normal form only; a dictionary would keep one of them.
            guard hashes.updateValue(hash.text, forKey: member.key.text) == nil else {
                throw platforms.broken(member.key.text, "is listed twice")
            }
        }
        return hashes
    }

    fileprivate func routes(_ key: String) throws(FormatError) -> [RoutePattern] {
        var routes: [RoutePattern] = []
        for text in try strings(key, limit: Limits.routesInBundle) {
            guard let route = RoutePattern(text) else { throw broken(key, RoutePattern.rule) }
            routes.append(route)
        }
        return routes
    }

    fileprivate func coding(_ key: String) throws(FormatError) -> AssetCoding {
        guard let coding = AssetCoding(rawValue: try string(key)) else { throw broken(key, AssetCoding.rule) }
        return coding
    }

    fileprivate func routing(_ key: String) throws(FormatError) -> BundleRouting {
        guard let routing = BundleRouting(rawValue: try string(key)) else { throw broken(key, BundleRouting.rule) }
        return routing
    }

    /// Ignores header fields that this version does not allow: a later version may allow more.
    fileprivate func headerRules(_ key: String) throws(FormatError) -> [HeaderRule] {
        var rules: [HeaderRule] = []
        for (index, value) in try array(key, limit: Limits.headerRules).enumerated() {
            let rule = try Fields(value, of: document, at: at("\(key)[\(index)]"))
            guard let pattern = FilePattern(try rule.string("path")) else {
                throw rule.broken("path", FilePattern.rule)
            }
            let fields = try rule.members(of: "fields", limit: Limits.headersInRule)
            var known: [HeaderRule.Field] = []
            for member in fields.object.members {
                let value = try fields.string(member.key.text)
                if let field = try? AllowedHeader.checked(member.key.text, value) { known.append(field) }
            }
            rules.append(HeaderRule(pattern: pattern, fields: known))
        }
        return rules
    }
}

extension HeaderRule {
    /// Returns the limit that the header rules of a bundle exceed, if any.
    package static func problem(of rules: [HeaderRule]) -> String? {
        guard rules.count <= Limits.headerRules else { return "must hold at most \(Limits.headerRules) elements" }
        guard rules.allSatisfy({ $0.fields.count <= Limits.headersInRule }) else {
            return "must hold at most \(Limits.headersInRule) fields for one path"
        }
        // Browsers and proxies reject a response with very long headers.
        let bytes = rules.reduce(0) { $0 + $1.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } }
        return bytes <= Limits.headersOfBundle ? nil : "must hold at most \(Limits.headersOfBundle) bytes in all"
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
            coding: fields.has("coding") ? try fields.coding("coding") : nil,
            fingerprint: try fields.fingerprint()
        )
    }
}
