import PageDiff
package import PatchFormat

extension PageRoutes {
    package static let format = "patchline-pages-v1"
    /// The maximum size of the file in bytes.
    package static let limit = 1_000_000
    private static let passesRule = "excludes all other settings: the pages pass unchanged"

    /// Reads a file of routes.
    ///
    /// ```json
    /// { "format": "patchline-pages-v1",
    ///   "routes": [ { "path": "/account/**", "passes": true },
    ///               { "path": "/**", "cacheOffline": "store", "links": ["/site.css"], "dictionarySeconds": 86400 } ] }
    /// ```
    ///
    /// Only `format`, `routes` and `path` are required. Unknown members are rejected, because a misspelled setting would have no
    /// effect.
    package init(_ bytes: [UInt8], named document: String) throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: document, limit: Self.limit), of: document)
        try fields.constant("format", Self.format)
        try fields.allow(["format", "routes"])
        var routes: [PageRoute] = []
        for (number, value) in try fields.array("routes", limit: Self.most).enumerated() {
            let row = try Fields(value, of: document, at: "routes[\(number)]")
            let route = try Self.route(row)
            if let first = routes.first(where: { $0.path.covers(route.path) })?.path.text {
                throw row.broken("path", "is never used: the earlier \(first) matches all its paths")
            }
            routes.append(route)
        }
        self.init(routes)
    }

    private static func route(_ fields: Fields) throws(FormatError) -> PageRoute {
        try fields.allow([
            "path", "passes", "cacheOffline", "links", "etagName", "unmarked", "dictionaries", "dictionarySeconds",
        ])
        guard let path = RoutePattern(try fields.string("path")) else { throw fields.broken("path", RoutePattern.rule) }
        if try fields.bool("passes", default: false) {
            guard fields.object.members.count == 2 else { throw fields.broken("passes", passesRule) }
            return PageRoute(path, rule: nil, dictionaries: .none)
        }
        var rule = PageRule()
        if let value = fields.object["cacheOffline"] { rule.cacheOffline = try Self.cacheOffline(value, fields) }
        if fields.has("links") {
            rule.links = try fields.strings("links", limit: PageLimits.links)
            guard PageRule.areLinks(rule.links) else { throw fields.broken("links", PageRule.linksRule) }
        }
        if let name = try fields.optionalString("etagName") {
            guard PageRule.isETagName(name) else { throw fields.broken("etagName", PageRule.etagNameRule) }
            rule.etagName = name
        }
        rule.takesUnmarked = try fields.bool("unmarked", default: false)
        var dictionaries = PageRoute.Dictionaries.open
        if let text = try fields.optionalString("dictionaries") {
            guard let known = PageRoute.Dictionaries(rawValue: text) else {
                throw fields.broken("dictionaries", PageRoute.Dictionaries.rule)
            }
            dictionaries = known
        }
        let seconds =
            try fields.has("dictionarySeconds")
            ? fields.integer("dictionarySeconds", in: PageRoute.dictionarySeconds) : nil
        return PageRoute(path, rule: rule, dictionaries: dictionaries, dictionarySeconds: seconds)
    }

    /// Accepts `true` and `false` also as JSON booleans.
    private static func cacheOffline(_ value: JSON, _ fields: Fields) throws(FormatError) -> CacheOffline {
        let known: CacheOffline? =
            switch value {
            case .bool(let keeps): keeps ? .keepAndRefresh : .keepNothing
            case .string(let text): CacheOffline(rawValue: text.text)
            default: nil
            }
        guard let known else { throw fields.broken("cacheOffline", CacheOffline.rule) }
        return known
    }
}

extension RoutePattern {
    /// Whether this pattern matches every path that the other one matches.
    fileprivate func covers(_ other: RoutePattern) -> Bool {
        func segments(_ pattern: RoutePattern) -> [String] { pattern.text.split(separator: "/").map(String.init) }
        let isOpen = segments(self).last == "**"
        let theirs = segments(other)
        guard theirs.last == "**" else { return matches(theirs) }
        // Only a star in this pattern matches a star in the other.
        return isOpen && matches(theirs.dropLast())
    }
}
