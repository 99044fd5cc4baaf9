import PatchChoice
import PatchFormat
import YAMLReading

extension Fleet {
    package static let fileLimit = 1_000_000
    private static let mostKinds = 1_000

    /// Reads a file with kinds of devices.
    ///
    /// ```
    /// devices:
    ///   - {share: 70%, appVersion: 2.1, data: {region: eu}, installed: {web: 1.4.1}}
    ///   - {share: 30%, appVersion: 1.9, consent: ask, platform: {name: ios, compatibility: 5e5e}}
    /// ```
    package init(_ bytes: [UInt8], named file: String) throws(FleetError) {
        let yaml: YAMLFile
        do throws(YAMLFile.Fault) { yaml = try YAMLFile(bytes) } catch {
            throw FleetError(file: file, line: error.line, key: "", rule: error.rule)
        }
        guard let root = yaml.tree.root else { throw FleetError(file: file, line: nil, key: "", rule: "is empty") }
        let reader = FleetReader(file: file, yaml: yaml)
        let members = try reader.mapping(root, "", known: ["devices"])
        guard let devices = members["devices"] else { throw reader.error(root, "devices", "is missing") }
        guard case .sequence(let rows) = yaml.tree[devices].content, (1...Self.mostKinds).contains(rows.count) else {
            throw reader.error(devices, "devices", "must be a list of 1 to \(Words.grouped(Self.mostKinds)) kinds")
        }
        var kinds: [Kind] = []
        for (index, row) in rows.enumerated() { kinds.append(try reader.kind(row, "devices[\(index)]")) }
        let sum = kinds.reduce(0) { $0 + $1.share }
        guard sum == 10_000 else {
            throw reader.error(devices, "devices", "must have shares of 100% in total, not \(Words.percent(sum))")
        }
        self.init(kinds)
    }
}

/// Reads the values of a fleet's file.
///
/// An invalid one is rejected with its line and key.
private struct FleetReader {
    private static let known = ["share", "appVersion", "user", "data", "platform", "consent", "installed"]

    let file: String
    let yaml: YAMLFile

    func error(_ node: Int, _ key: String, _ rule: String) -> FleetError {
        error(line: yaml.tree[node].mark.line, key, rule)
    }

    private func error(line: Int?, _ key: String, _ rule: String) -> FleetError {
        FleetError(file: file, line: line, key: key, rule: rule)
    }

    /// - Parameter known: The allowed keys, or nil for any.
    func mapping(_ node: Int, _ key: String, known: [String]?) throws(FleetError) -> [String: Int] {
        var members: [String: Int] = [:]
        for pair in try pairs(node, key) {
            if let known, !known.contains(pair.key) {
                let meant = pair.key.nearest(among: known).map { "did you mean \($0)? The fields" } ?? "the fields"
                let place = key.isEmpty ? pair.key : "\(key).\(pair.key)"
                throw error(
                    line: pair.line,
                    place,
                    "is not a known field; \(meant) are \(known.joined(separator: ", "))"
                )
            }
            members[pair.key] = pair.value
        }
        return members
    }

    /// Returns the pairs of a node, or none without a node.
    private func pairs(_ node: Int?, _ key: String) throws(FleetError) -> [YAMLFile.Pair] {
        guard let node else { return [] }
        do throws(YAMLFile.Fault) { return try yaml.pairs(of: node) } catch {
            throw self.error(line: error.line, key, error.rule)
        }
    }

    private func text(_ node: Int, _ key: String) throws(FleetError) -> String {
        guard let text = yaml.text(node) else { throw error(node, key, "must be text") }
        return text
    }

    private func parsed<Value>(
        _ node: Int,
        _ key: String,
        _ rule: String,
        _ parse: (String) -> Value?
    ) throws(FleetError) -> Value {
        guard let value = parse(try text(node, key)) else { throw error(node, key, rule) }
        return value
    }

    func kind(_ row: Int, _ key: String) throws(FleetError) -> Fleet.Kind {
        let members = try mapping(row, key, known: Self.known)
        guard let share = members["share"] else { throw error(row, "\(key).share", "is missing") }
        var kind = Fleet.Kind(
            share: try parsed(share, "\(key).share", RolloutShare.rule) { RolloutShare($0) }.tenThousandths
        )
        if let node = members["appVersion"] {
            kind.appVersion = try parsed(node, "\(key).appVersion", AppVersion.rule) { AppVersion($0) }
        }
        if let node = members["user"] { kind.user = try parsed(node, "\(key).user", UserID.rule) { UserID($0) } }
        if let node = members["consent"] {
            kind.consent = try parsed(node, "\(key).consent", Consent.rule) { Consent(rawValue: $0) }
        }
        if let node = members["platform"] { kind.platform = try platform(node, "\(key).platform") }
        for pair in try pairs(members["data"], "\(key).data") {
            guard let fact = ConditionKey(pair.key) else {
                throw error(line: pair.line, "\(key).data", ConditionKey.rule)
            }
            kind.data[fact] = try parsed(pair.value, "\(key).data.\(pair.key)", ConditionValue.rule) {
                ConditionValue($0)
            }
        }
        for pair in try pairs(members["installed"], "\(key).installed") {
            guard let id = PatchID(pair.key) else { throw error(line: pair.line, "\(key).installed", PatchID.rule) }
            kind.installed[id] = try parsed(pair.value, "\(key).installed.\(pair.key)", VersionLabel.rule) {
                VersionLabel($0)
            }
        }
        return kind
    }

    private func platform(_ node: Int, _ key: String) throws(FleetError) -> Platform {
        let members = try mapping(node, key, known: ["name", "compatibility"])
        guard let name = members["name"], let compatibility = members["compatibility"],
            let platform = Platform(
                name: try text(name, "\(key).name"),
                compatibility: try text(compatibility, "\(key).compatibility")
            )
        else { throw error(node, key, "must have name and compatibility: \(Platform.rule)") }
        return platform
    }
}
