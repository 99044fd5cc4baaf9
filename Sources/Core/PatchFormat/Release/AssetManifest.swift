/// The files of one bundle version, sorted by path, as read from an unverified manifest.
///
/// It does not name a channel, so promoting a bundle changes neither it nor its signatures.
package struct AssetManifest: Hashable, Sendable {
    package static let format = "patchline-manifest-v1"

    package let app: AppID
    package let patchID: PatchID
    package let version: VersionLabel
    package let commit: String?
    /// Set only if the release engineer supplied a time.
    ///
    /// Without it, the same files and label always give the same manifest.
    package let created: UTCTime?
    /// The hash that a device's native part must have, by platform.
    ///
    /// Only devices that know their platform's hash check it.
    package let compatibility: [String: String]
    package let index: AssetPath
    /// Paths answered with `index`, or nil if every unknown path is.
    package let routes: [RoutePattern]?
    /// The response to other unknown paths, or nil in manifests of older versions.
    package let routing: BundleRouting?
    /// The header rules in order: a later rule replaces the same fields of an earlier one.
    package let headers: [HeaderRule]
    package let assets: [Asset]

    package init(
        app: AppID,
        patchID: PatchID,
        version: VersionLabel,
        commit: String?,
        created: UTCTime?,
        compatibility: [String: String],
        index: AssetPath,
        routes: [RoutePattern]?,
        routing: BundleRouting? = nil,
        headers: [HeaderRule] = [],
        assets: [Asset]
    ) {
        self.app = app
        self.patchID = patchID
        self.version = version
        self.commit = commit
        self.created = created
        self.compatibility = compatibility
        self.index = index
        self.routes = routes
        self.routing = routing
        self.headers = headers
        self.assets = assets
    }

    /// The asset at this path, or nil if there is none.
    package subscript(path: AssetPath) -> Asset? {
        row(of: path).map { assets[$0] }
    }

    /// The position of the asset at this path in `assets`.
    func row(of path: AssetPath) -> Int? {
        // Binary search; rows are sorted.
        var range = assets.indices
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            if assets[middle].path == path { return middle }
            range = assets[middle].path < path ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    package var json: JSON {
        .fields([
            ("format", .text(Self.format)), ("app", .text(app.text)), ("patchId", .text(patchID.text)),
            ("version", .text(version.text)), ("commit", commit.map { .text($0) }),
            ("created", created.map { .text($0.description) }),
            ("compatibility", .fields(compatibility.sorted { $0.key < $1.key }.map { ($0.key, .text($0.value)) })),
            ("index", .text(index.text)), ("routes", routes.map { .array($0.map { .text($0.text) }) }),
            ("routing", routing.map { .text($0.rawValue) }),
            ("headers", headers.isEmpty ? nil : .array(headers.map(\.json))),
            ("assets", .array(assets.map(\.json))),
        ])
    }
}

/// One row of an asset manifest.
package struct Asset: Hashable, Sendable {
    package let path: AssetPath
    /// The URL if it differs from `/` and the path, which is rare.
    private let otherURL: String?
    package let type: AssetType
    /// Whether a browser may cache the file for a year, because its URL changes with its content.
    package let cacheable: Bool
    package let sourceMap: AssetPath?
    /// The compression that the file is served with.
    ///
    /// Nil for uncompressed files, and for a compressed form stored beside its plain file.
    package let coding: AssetCoding?
    package let fingerprint: Fingerprint

    package init(
        path: AssetPath,
        url: String,
        type: AssetType,
        cacheable: Bool,
        sourceMap: AssetPath?,
        coding: AssetCoding? = nil,
        fingerprint: Fingerprint
    ) {
        self.path = path
        otherURL = url.utf8.first == UInt8(ascii: "/") && url.hasSameBytes(as: path.text, after: 1) ? nil : url
        self.type = type
        self.cacheable = cacheable
        self.sourceMap = sourceMap
        self.coding = coding
        self.fingerprint = fingerprint
    }

    /// The percent-encoded URL path at which the file is served, such as `/app/main.js`.
    package var url: String { otherURL ?? "/\(path)" }

    package var json: JSON {
        let members: [(String, JSON?)] = [
            ("path", .text(path.text)), ("url", .text(url)), ("type", .text(type.rawValue)),
            ("cacheable", .bool(cacheable)), ("sourceMap", sourceMap.map { .text($0.text) }),
            ("coding", coding.map { .text($0.rawValue) }),
        ]
        return .fields(members + fingerprint.members)
    }

    package func statement(app: AppID, patchID: PatchID) -> [UInt8] {
        Statement.asset(app: app, patchID: patchID, path: path, fingerprint: fingerprint)
    }
}

/// The role of an asset in a page.
package enum AssetType: String, Sendable {
    case js, css, html, json, map, asset

    /// Derives the type from the extension, which is case-sensitive.
    ///
    /// `Makefile` and `a.` have no extension.
    ///
    /// Part of the delta pack format: a pack omits a type that equals this default. A change here needs a new version of that
    /// format.
    package init(path: AssetPath) {
        let name = path.segments.last ?? ""
        let ending = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
        self =
            switch ending {
            case "js", "mjs": .js
            case "css": .css
            case "html", "htm": .html
            case "json": .json
            case "map": .map
            default: .asset
            }
    }
}

/// A client-side route such as `/cart` or `/item/*`.
///
/// `*` matches one segment, and a `**` at the end matches any rest.
package struct RoutePattern: Hashable, Sendable {
    package static let rule = "must start with '/' and hold segments, '*' for one, '**' at the end for any rest"

    package let text: String
    private let segments: [String]

    package init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.count <= 1_024,
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        let segments = text.piecesBetweenSlashes.filter { !$0.isEmpty }
        guard !segments.dropLast().contains("**"), !segments.contains(where: { $0 == "." || $0 == ".." }) else {
            return nil
        }
        self.text = text
        self.segments = segments
    }

    package func matches(_ path: [String]) -> Bool {
        let open = segments.last == "**"
        let fixed = open ? Array(segments.dropLast()) : segments
        guard open ? path.count >= fixed.count : path.count == fixed.count else { return false }
        return zip(fixed, path).allSatisfy { $0 == "*" || $0.hasSameBytes(as: $1) }
    }
}
