import PatchFormat
import PatchCrypto
import PatchTrust

extension ReleaseDescription {
    /// Reads a description.
    ///
    /// Unknown keys, wrong types and duplicate keys are errors.
    ///
    /// - Throws: the first error; ``DescriptionReading`` contains all of them.
    package init(_ bytes: [UInt8], named file: String = Self.fileName) throws(DescriptionError) {
        let reading = DescriptionReading(bytes, named: file)
        guard let description = reading.description else {
            throw reading.mistakes.first ?? DescriptionError(file, rule: "is not a release description")
        }
        self = description
    }
}

extension DescribedPatch {
    static let common: Set<String> = ["id", "kind", "version", "rules", "requires", "security", "keep"]
    static let ofScript = common.union(["file", "runsIn", "pages"])
    static let ofBundle = common.union([
        "folder", "index", "routes", "routing", "headers", "cacheable", "commit", "compatibility", "exclude",
        "gateways",
    ])
    .union(BundleSelection.keys)
    static let keptVersions = 0...100

    /// Returns nil if any part is not valid.
    init?(_ fields: Fields, _ mistakes: Mistakes) {
        let before = mistakes.found.count
        let patchID: PatchID? = mistakes.take { () throws(FormatError) in try fields.parsed("id") }
        let kind = mistakes.take { () throws(FormatError) in
            guard let kind = PatchKind(rawValue: try fields.words("kind")) else {
                throw fields.broken("kind", "must be script or bundle")
            }
            return kind
        }
        let version: VersionLabel? = mistakes.take { () throws(FormatError) in try fields.parsed("version") }
        var content: Content?
        var place = ScriptPlace.host
        switch kind {
        case .script?:
            mistakes.allow(Self.ofScript, in: fields)
            content = mistakes.take { () throws(FormatError) in .script(file: try fields.path("file")) }
            place = mistakes.take { () throws(FormatError) in try Self.place(of: fields) } ?? .host
        case .bundle?:
            mistakes.allow(Self.ofBundle, in: fields)
            content = DescribedBundle(fields, mistakes).map { .bundle($0) }
        case nil: mistakes.allow(Self.ofScript.union(Self.ofBundle), in: fields)
        }
        let described = fields.has("rules") ? Self.rules(of: fields, mistakes) : DescribedRules()
        let requires = fields.has("requires") ? Self.requirements(of: fields, mistakes) : [:]
        let security = fields.has("security") ? Self.security(of: fields, mistakes) : nil
        let keep = mistakes.take { () throws(FormatError) in
            fields.has("keep") ? try fields.integer("keep", in: Self.keptVersions) : Self.keepByDefault
        }
        guard mistakes.found.count == before, let patchID, let version, let content, let keep else { return nil }
        self.init(
            patchID: patchID,
            version: version,
            content: content,
            rules: described.rules,
            users: described.users,
            requires: requires,
            security: security,
            place: place,
            keep: keep
        )
    }

    private static func place(of fields: Fields) throws(FormatError) -> ScriptPlace {
        // The types are checked first, so that errors use the description's terms.
        if fields.has("runsIn") { _ = try fields.words("runsIn") }
        if fields.has("pages") { _ = try fields.texts("pages", limit: Limits.pagesOfScript) }
        return try ScriptPlace(fields, kind: .script)
    }

    private static func rules(of fields: Fields, _ mistakes: Mistakes) -> DescribedRules {
        let rules = mistakes.take { () throws(FormatError) in try fields.mapping("rules", such: "{rollout: 10%}") }
        return rules.map { DescribedRules($0, mistakes) } ?? DescribedRules()
    }

    private static func security(of fields: Fields, _ mistakes: Mistakes) -> SecurityAdvisory? {
        mistakes.take { () throws(FormatError) in
            let advisory = try fields.mapping("security", such: "{text: \"Names in a chat could run scripts.\"}")
            try advisory.allow(["text", "url"])
            _ = try advisory.words("text")
            return try SecurityAdvisory(advisory)
        }
    }

    private static func requirements(of fields: Fields, _ mistakes: Mistakes) -> [PatchID: [Requirement]] {
        let wanted = mistakes.take { () throws(FormatError) in
            try fields.mapping("requires", such: "{fix: [\"2\"]}")
        }
        guard let wanted else { return [:] }
        var requires: [PatchID: [Requirement]] = [:]
        for member in wanted.object.members {
            let key = member.key.text
            _ = mistakes.take { () throws(FormatError) in
                guard let id = PatchID(key) else { throw wanted.broken(key, PatchID.rule) }
                requires[id] = try requirement(key, in: wanted)
            }
        }
        return requires
    }

    private static func requirement(_ key: String, in fields: Fields) throws(FormatError) -> [Requirement] {
        var wanted: [Requirement] = []
        for (index, text) in try fields.texts(key, limit: 100).enumerated() {
            if let digest = SHA256Digest(hex: text) {
                wanted.append(.content(digest))
            } else if let version = VersionLabel(text) {
                wanted.append(.version(version))
            } else {
                throw fields.broken("\(key)[\(index)]", "must be a SHA-256 or a version")
            }
        }
        guard !wanted.isEmpty else { throw fields.broken(key, "must not be empty") }
        return wanted
    }
}

extension DescribedBundle {
    fileprivate init?(_ fields: Fields, _ mistakes: Mistakes) {
        let folder = mistakes.take { () throws(FormatError) in try fields.path("folder") }
        let index = mistakes.take { () throws(FormatError) in try fields.path("index", default: "index.html") }
        let routes = Self.each("routes", of: fields, mistakes) { (text) throws(Fault) in
            guard let route = RoutePattern(text) else { throw Fault(rule: RoutePattern.rule) }
            return route
        }
        let routing = mistakes.take { () throws(FormatError) in
            guard fields.has("routing") else { return BundleRouting?.none }
            guard let routing = BundleRouting(rawValue: try fields.words("routing")) else {
                throw fields.broken("routing", BundleRouting.rule)
            }
            return routing
        }
        let headers = DescribedHeaders(fields, mistakes)
        let selection = BundleSelection(fields, mistakes)
        var exclusions = FileExclusions(of: selection)
        var place = 0
        _ = Self.each("exclude", of: fields, mistakes) { (text) throws(Fault) in
            defer { place += 1 }
            do throws(FileExclusions.PatternFault) {
                exclusions = try exclusions.adding(text, at: .exclude(place))
            } catch { throw Fault(rule: error.rule) }
        }
        let commit = mistakes.take { () throws(FormatError) in fields.has("commit") ? try fields.words("commit") : nil }
        let compatibility = Self.compatibility(of: fields, mistakes)
        let cacheable = Self.each("cacheable", of: fields, mistakes) { (text) throws(Fault) in text } ?? []
        let gateways: [Gateway] =
            Self.each("gateways", of: fields, mistakes) { (text) throws(Fault) in
                guard let gateway = Gateway(rawValue: text) else { throw Fault(rule: Gateway.rule) }
                return gateway
            } ?? []
        guard let folder, let index, let commit, let routing else { return nil }
        self.init(
            folder: folder,
            index: index,
            routes: routes,
            routing: routing,
            headers: headers.rules,
            codings: headers.codings,
            cacheable: cacheable,
            commit: commit,
            compatibility: compatibility,
            exclude: Self.each("exclude", of: fields, Mistakes()) { (text) throws(Fault) in text } ?? [],
            exclusions: exclusions,
            gateways: Set(gateways).sorted(),
            selection: selection
        )
    }

    private struct Fault: Error {
        let rule: String
    }

    /// The valid elements of a list; nil if there is no list.
    private static func each<Value>(
        _ key: String,
        of fields: Fields,
        _ mistakes: Mistakes,
        read: (String) throws(Fault) -> Value
    ) -> [Value]? {
        guard fields.has(key) else { return nil }
        let texts = mistakes.take { () throws(FormatError) in try fields.texts(key, limit: 1_000) }
        var values: [Value] = []
        for (index, text) in (texts ?? []).enumerated() {
            do throws(Fault) { values.append(try read(text)) } catch {
                mistakes.add(fields.broken("\(key)[\(index)]", error.rule))
            }
        }
        return values
    }

    private static func compatibility(of fields: Fields, _ mistakes: Mistakes) -> [String: String] {
        guard fields.has("compatibility") else { return [:] }
        let platforms = mistakes.take { () throws(FormatError) in
            try fields.mapping("compatibility", such: "{ios: \"2b0c\"}")
        }
        var compatibility: [String: String] = [:]
        for member in platforms?.object.members ?? [] {
            let name = member.key.text
            compatibility[name] = mistakes.take { () throws(FormatError) in try platforms?.words(name) } ?? nil
        }
        return compatibility
    }
}
