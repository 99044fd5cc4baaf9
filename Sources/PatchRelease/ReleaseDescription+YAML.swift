import PatchFormat
import PatchTrust

extension ReleaseDescription {
    /// Reads a description.
    ///
    /// Unknown keys, wrong types and keys that stand twice are errors.
    package init(_ bytes: [UInt8], named file: String = Self.fileName) throws(DescriptionError) {
        let document = try YAMLDocument(bytes, named: file)
        do throws(FormatError) {
            self = try Self.read(try Fields(document.json, of: file))
        } catch {
            throw DescriptionError(error, lines: document.lines)
        }
    }

    private static func read(_ fields: Fields) throws(FormatError) -> ReleaseDescription {
        try fields.allow(["app", "channel", "patches"])
        var patches: [DescribedPatch] = []
        for (index, value) in try fields.array("patches", limit: Limits.patchesInList).enumerated() {
            let row = try Fields(value, of: fields.document, at: "patches[\(index)]")
            let patch = try DescribedPatch(row)
            guard !patches.contains(where: { $0.patchID == patch.patchID }) else {
                throw row.broken("id", "stands twice; a description names the newest version of an id once")
            }
            patches.append(patch)
        }
        return ReleaseDescription(
            app: try fields.parsed("app"),
            channel: try fields.parsed("channel"),
            patches: patches
        )
    }
}

extension DescribedPatch {
    private static let common: Set<String> = ["id", "kind", "version", "rules", "requires", "keep"]
    private static let ofScript = common.union(["file"])
    private static let ofBundle = common.union([
        "folder", "index", "routes", "cacheable", "commit", "compatibility", "exclude",
    ])

    fileprivate init(_ fields: Fields) throws(FormatError) {
        let content: Content
        switch PatchKind(rawValue: try fields.words("kind")) {
        case .script?:
            try fields.allow(Self.ofScript)
            content = .script(file: try fields.path("file"))
        case .bundle?:
            try fields.allow(Self.ofBundle)
            content = .bundle(try DescribedBundle(fields))
        case nil: throw fields.broken("kind", "must be script or bundle")
        }
        let described = fields.has("rules") ? try DescribedRules(try fields.fields("rules")) : DescribedRules()
        self.init(
            patchID: try fields.parsed("id"),
            version: try fields.parsed("version"),
            content: content,
            rules: described.rules,
            users: described.users,
            requires: fields.has("requires") ? try Self.requirements(try fields.fields("requires")) : [:],
            keep: fields.has("keep") ? try fields.integer("keep", in: 0...100) : Self.keepByDefault
        )
    }

    private static func requirements(_ fields: Fields) throws(FormatError) -> [PatchID: [Requirement]] {
        var requires: [PatchID: [Requirement]] = [:]
        for member in fields.object.members {
            let key = member.key.text
            guard let id = PatchID(key) else { throw fields.broken(key, PatchID.rule) }
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
            requires[id] = wanted
        }
        return requires
    }
}

extension DescribedBundle {
    fileprivate init(_ fields: Fields) throws(FormatError) {
        var routes: [RoutePattern]?
        if fields.has("routes") {
            routes = []
            for (index, text) in try fields.texts("routes", limit: 1_000).enumerated() {
                guard let route = RoutePattern(text) else { throw fields.broken("routes[\(index)]", RoutePattern.rule) }
                routes?.append(route)
            }
        }
        var compatibility: [String: String] = [:]
        if fields.has("compatibility") {
            let platforms = try fields.fields("compatibility")
            for member in platforms.object.members {
                compatibility[member.key.text] = try platforms.words(member.key.text)
            }
        }
        var exclusions = FileExclusions.standard
        if fields.has("exclude") {
            for (index, text) in try fields.texts("exclude", limit: 1_000).enumerated() {
                do throws(FileExclusions.PatternFault) { exclusions = try exclusions.adding(text) } catch {
                    throw fields.broken("exclude[\(index)]", error.rule)
                }
            }
        }
        self.init(
            folder: try fields.path("folder"),
            index: try fields.path("index", default: "index.html"),
            routes: routes,
            cacheable: fields.has("cacheable") ? try fields.texts("cacheable", limit: 1_000) : [],
            commit: fields.has("commit") ? try fields.words("commit") : nil,
            compatibility: compatibility,
            exclusions: exclusions
        )
    }
}

extension Fields {
    func allow(_ known: Set<String>) throws(FormatError) {
        for member in object.members where !known.contains(member.key.text) {
            throw broken(member.key.text, "is not known here; known are \(known.sorted().joined(separator: ", "))")
        }
    }

    /// Text; a number is refused with the way to write it.
    func words(_ key: String) throws(FormatError) -> String {
        guard has(key) else { throw broken(key, "is missing") }
        return try Self.text(object[key]) { (rule) throws(FormatError) in throw broken(key, rule) }
    }

    func texts(_ key: String, limit: Int) throws(FormatError) -> [String] {
        var texts: [String] = []
        for (index, value) in try array(key, limit: limit).enumerated() {
            texts.append(try Self.text(value) { (rule) throws(FormatError) in throw broken("\(key)[\(index)]", rule) })
        }
        return texts
    }

    private static func text(
        _ value: JSON?,
        otherwise refuse: (String) throws(FormatError) -> Never
    ) throws(FormatError) -> String {
        switch value {
        case .string(let text): return text.text
        case .integer(let number): try refuse("is a number; put it in quotes: \"\(number)\"")
        case .bool(let flag): try refuse("is true or false; put it in quotes if it is meant as text: \"\(flag)\"")
        case .null, .array, .object, nil: try refuse("must be text")
        }
    }

    fileprivate func parsed<Name: ParsedName>(_ key: String, as type: Name.Type = Name.self) throws(FormatError) -> Name
    {
        guard let name = Name(try words(key)) else { throw broken(key, Name.rule) }
        return name
    }

    fileprivate func path(_ key: String, default path: String? = nil) throws(FormatError) -> AssetPath {
        let text = if let path, !has(key) { path } else { try words(key) }
        do throws(AssetPath.Problem) { return try AssetPath(text) } catch { throw broken(key, error.rawValue) }
    }
}
