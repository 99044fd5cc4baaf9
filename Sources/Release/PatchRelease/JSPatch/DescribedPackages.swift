package import PatchFormat

/// The scripts of a channel that JSPatch's own clients receive, with the wires and the app versions.
///
/// ```yaml
/// jspatch:
///   scripts: {main.js: fix, cart.js: cart}
///   appVersions: ["2.1"]
///   loader: true
///   platform: 0a1b2c3d4e5f6071
///   after: 7
/// ```
package struct DescribedPackages: Equatable, Sendable {
    /// The patch whose newest version is the script of that name.
    ///
    /// One script must be `main.js`.
    package let scripts: [ScriptName: PatchID]
    package let appVersions: [AppVersion]
    package let wires: [GatewayPackages.Wire]
    /// The highest number that an earlier server has issued; 0 for none.
    package let after: Int

    package init(
        scripts: [ScriptName: PatchID],
        appVersions: [AppVersion],
        wires: [GatewayPackages.Wire],
        after: Int = 0
    ) {
        self.scripts = scripts
        self.appVersions = appVersions
        self.wires = wires
        self.after = after
    }

    /// One line for each wire and app version.
    package var lines: [GatewayPackages.Line] {
        wires.flatMap { wire in appVersions.map { GatewayPackages.Line(wire, $0) } }
    }

    static let key = "jspatch"
    private static let keys: Set<String> = ["scripts", "appVersions", "loader", "platform", "after"]

    /// Returns nil if the member is absent or not valid.
    init?(in fields: Fields, _ mistakes: Mistakes) {
        guard fields.has(Self.key) else { return nil }
        let before = mistakes.found.count
        let own = mistakes.take { () throws(FormatError) in
            try fields.mapping(Self.key, such: "{scripts: {main.js: fix}, appVersions: [\"2.1\"], loader: true}")
        }
        guard let own else { return nil }
        mistakes.allow(Self.keys, in: own)
        scripts = mistakes.take { () throws(FormatError) in try own.scripts() } ?? [:]
        appVersions = mistakes.take { () throws(FormatError) in try own.appVersions() } ?? []
        wires = mistakes.take { () throws(FormatError) in try own.wires() } ?? []
        let range = 0...LoaderVersion.range.upperBound - 1
        after =
            mistakes.take { () throws(FormatError) in own.has("after") ? try own.integer("after", in: range) : 0 } ?? 0
        guard mistakes.found.count == before else { return nil }
    }
}

extension Fields {
    fileprivate func scripts() throws(FormatError) -> [ScriptName: PatchID] {
        let named = try mapping("scripts", such: "{main.js: fix}")
        guard named.object.members.count <= Limits.scriptsInLoaderPackage else {
            throw broken("scripts", "must have at most \(Limits.scriptsInLoaderPackage) members")
        }
        var scripts: [ScriptName: PatchID] = [:]
        for member in named.object.members {
            guard let name = ScriptName(member.key.text) else { throw named.broken(member.key.text, ScriptName.rule) }
            scripts[name] = try named.parsed(member.key.text)
        }
        guard scripts[.main] != nil else { throw broken("scripts", "must have main.js, the script that runs") }
        return scripts
    }

    fileprivate func appVersions() throws(FormatError) -> [AppVersion] {
        var versions: [AppVersion] = []
        for (index, text) in try texts("appVersions", limit: Limits.gatewayLines / 2).enumerated() {
            guard let version = AppVersion(text) else { throw broken("appVersions[\(index)]", AppVersion.rule) }
            guard !versions.contains(where: { $0.text.hasSameBytes(as: text) }) else {
                throw broken("appVersions[\(index)]", "is given twice")
            }
            versions.append(version)
        }
        guard !versions.isEmpty else { throw broken("appVersions", "must not be empty") }
        return versions
    }

    fileprivate func wires() throws(FormatError) -> [GatewayPackages.Wire] {
        let loader: [GatewayPackages.Wire] = try bool("loader", default: false) ? [.loader] : []
        let platform: [GatewayPackages.Wire] = has("platform") ? [.platform(try parsed("platform"))] : []
        guard !loader.isEmpty || !platform.isEmpty else {
            throw FormatError(document, field: path, rule: "must have loader: true, or the app's key as platform")
        }
        return loader + platform
    }
}
