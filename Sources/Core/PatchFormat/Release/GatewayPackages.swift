/// The packages that JSPatch's clients receive for one version of an app.
///
/// They are made from the list's scripts where the keys are.
///
/// The signed list contains them, so a server publishes only signed packages. Their bytes are stored as objects, like scripts and
/// assets. Patchline devices ignore them.
///
/// ```
/// {"gateway":"platform","appKey":"0a1b2c3d4e5f6071","appVersion":"2.1","latest":3,"scripts":{"main.js":"fix"},
///  "packages":[{"version":3,"contents":{"main.js":"<sha256>"},"size":812,"md5":"…","sha1":"…","sha256":"…"}]}
/// ```
package struct GatewayPackages: Hashable, Sendable {
    /// A package that clients can download.
    package struct Package: Hashable, Sendable {
        package let version: LoaderVersion
        /// The digests of the package file itself.
        package let fingerprint: Fingerprint
        /// The content of each script in the package.
        package let contents: [ScriptName: SHA256Digest]

        package init(version: LoaderVersion, fingerprint: Fingerprint, contents: [ScriptName: SHA256Digest]) {
            self.version = version
            self.fingerprint = fingerprint
            self.contents = contents
        }
    }

    /// The series that the packages belong to: one protocol and one version of the app.
    package struct Line: Hashable, Sendable, CustomStringConvertible {
        package let wire: Wire
        /// Compared as text: `2.1` and `2.1.0` are two folders on a server.
        package let appVersion: AppVersion

        package init(_ wire: Wire, _ appVersion: AppVersion) {
            self.wire = wire
            self.appVersion = appVersion
        }

        package static func == (left: Line, right: Line) -> Bool {
            left.wire == right.wire && left.appVersion.text.hasSameBytes(as: right.appVersion.text)
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(wire)
            hasher.combine(appVersion.text)
        }

        package var description: String { "\(wire) \(appVersion)" }

        /// The path of a package below the gateway's folder.
        package func path(_ version: LoaderVersion) -> String {
            switch wire {
            case .loader: "\(appVersion)/v\(version).zip"
            case .platform(let appKey): "\(appKey)/\(appVersion)/file\(version)"
            }
        }
    }

    package enum Wire: Hashable, Sendable, CustomStringConvertible {
        case loader
        /// JSPatch's platform, with the key that it assigned to the app.
        case platform(PlatformAppKey)

        package var gateway: Gateway {
            switch self {
            case .loader: .loader
            case .platform: .platform
            }
        }

        package var appKey: PlatformAppKey? {
            switch self {
            case .loader: nil
            case .platform(let key): key
            }
        }

        package var description: String {
            switch self {
            case .loader: "loader"
            case .platform(let key): "platform \(key)"
            }
        }
    }

    package let line: Line
    /// The highest number ever assigned here, including withdrawn packages.
    ///
    /// A number is never reused.
    package let latest: LoaderVersion
    /// The patch whose newest version each script contains, or empty if the gateway is disabled.
    package let scripts: [ScriptName: PatchID]
    /// Newest first.
    package let packages: [Package]

    package init(line: Line, latest: LoaderVersion, scripts: [ScriptName: PatchID], packages: [Package]) {
        self.line = line
        self.latest = latest
        self.scripts = scripts
        self.packages = packages
    }

    /// The package that clients receive, or nil if the latest one was withdrawn and not yet replaced.
    package var newest: Package? { packages.first.flatMap { $0.version == latest ? $0 : nil } }

    package var isSwitchedOn: Bool { !scripts.isEmpty }
}

extension GatewayPackages {
    package var json: JSON {
        .fields([
            ("gateway", .text(line.wire.gateway.rawValue)), ("appKey", line.wire.appKey.map { .text($0.text) }),
            ("appVersion", .text(line.appVersion.text)), ("latest", .integer(latest.number)),
            ("scripts", .fields(scripts.sorted { $0.key < $1.key }.map { ($0.key.text, .text($0.value.text)) })),
            ("packages", .array(packages.map(\.json))),
        ])
    }

    /// Reads the packages of a list and ignores protocols that this version does not know.
    static func all(of fields: Fields) throws(FormatError) -> [GatewayPackages] {
        guard fields.has(key) else { return [] }
        var rows: [GatewayPackages] = []
        var lines: Set<Line> = []
        for (index, value) in try fields.array(key, limit: Limits.gatewayLines).enumerated() {
            let row = try Fields(value, of: fields.document, at: "\(fields.at(key))[\(index)]")
            guard let next = try GatewayPackages(row) else { continue }
            guard lines.insert(next.line).inserted else {
                throw row.broken("appVersion", "is listed twice for one wire")
            }
            rows.append(next)
        }
        return rows
    }

    static let key = "gateways"

    private init?(_ fields: Fields) throws(FormatError) {
        let wire: Wire
        switch Gateway(rawValue: try fields.string("gateway")) {
        case .loader: wire = .loader
        case .platform: wire = .platform(try fields.name("appKey"))
        case .meteor, nil: return nil
        }
        guard let appVersion = AppVersion(try fields.string("appVersion")) else {
            throw fields.broken("appVersion", AppVersion.rule)
        }
        line = Line(wire, appVersion)
        latest = try fields.version("latest")
        scripts = try fields.byScript("scripts") { (fields, member) throws(FormatError) in
            guard case .string(let text) = member.value, let id = PatchID(text.text) else {
                throw fields.broken(member.key.text, PatchID.rule)
            }
            return id
        }
        var packages: [Package] = []
        for (index, value) in try fields.array("packages", limit: Limits.packagesOfLine).enumerated() {
            let row = try Fields(value, of: fields.document, at: "\(fields.at("packages"))[\(index)]")
            let package = try Package(row)
            guard packages.last.map({ package.version < $0.version }) ?? (package.version <= latest) else {
                throw row.broken("version", "must be lower than the previous one, and at most latest")
            }
            packages.append(package)
        }
        self.packages = packages
    }
}

extension GatewayPackages.Package {
    var json: JSON {
        .fields(
            [
                ("version", .integer(version.number)),
                (
                    "contents",
                    .fields(contents.sorted { $0.key < $1.key }.map { ($0.key.text, .text($0.value.hex)) })
                ),
            ] + fingerprint.members
        )
    }

    fileprivate init(_ fields: Fields) throws(FormatError) {
        version = try fields.version("version")
        contents = try fields.byScript("contents") { (fields, member) throws(FormatError) in
            try fields.digest(member.key.text)
        }
        fingerprint = try fields.fingerprint()
        guard contents[.main] != nil else { throw fields.broken("contents", "must have main.js") }
        guard fingerprint.size <= Limits.loaderPackage else {
            throw fields.broken("size", "must be at most \(Limits.loaderPackage)")
        }
    }
}

extension Fields {
    fileprivate func version(_ key: String) throws(FormatError) -> LoaderVersion {
        guard let version = LoaderVersion(try integer(key, in: LoaderVersion.range)) else {
            throw broken(key, LoaderVersion.rule)
        }
        return version
    }

    fileprivate func byScript<Value>(
        _ key: String,
        _ read: (Fields, JSONObject.Member) throws(FormatError) -> Value
    ) throws(FormatError) -> [ScriptName: Value] {
        let members = try members(of: key, limit: Limits.scriptsInLoaderPackage)
        var values: [ScriptName: Value] = [:]
        for member in members.object.members {
            guard let name = ScriptName(member.key.text) else {
                throw members.broken(member.key.text, ScriptName.rule)
            }
            values[name] = try read(members, member)
        }
        return values
    }
}

extension PatchList {
    /// All packages that the list names.
    package var gatewayPackages: [(line: GatewayPackages.Line, package: GatewayPackages.Package)] {
        gateways.flatMap { row in row.packages.map { (row.line, $0) } }
    }
}

extension GatewayPackages.Package {
    /// The name in messages, such as `loader 2.1 v3`.
    package func label(on line: GatewayPackages.Line) -> String { "\(line) v\(version)" }
}
