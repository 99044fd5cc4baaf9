/// The devices that may install a list entry.
///
/// Rules apply to new installations only. They never remove an installed version.
package struct PatchRules: Hashable, Sendable {
    /// Whether an entry may be installed without a valid dial.
    package enum DialUse: String, Sendable {
        case optional
        case required
    }

    /// The signed ceiling, in devices of 10,000.
    package var rollout: Int
    package var appVersion: AppVersionRange?
    package var dial: DialUse
    /// The condition as written, such as `region==eu&&ismale==1`.
    ///
    /// A device that cannot parse it as a ``Condition`` does not install the entry.
    package var condition: String?
    /// SHA-256(the entry's salt ‖ user id) of each user the entry is for.
    ///
    /// An empty array excludes every user.
    package var users: [SHA256Digest]?
    package var mandatory: Bool
    package var runAtNextLaunch: Bool
    /// Members that this version does not know.
    ///
    /// A device does not install an entry with an unknown rule.
    package var unknown: [String]

    package static let everyone = PatchRules()

    package init(
        rollout: Int = 10_000,
        appVersion: AppVersionRange? = nil,
        dial: DialUse = .optional,
        condition: String? = nil,
        users: [SHA256Digest]? = nil,
        mandatory: Bool = false,
        runAtNextLaunch: Bool = false,
        unknown: [String] = []
    ) {
        self.rollout = rollout
        self.appVersion = appVersion
        self.dial = dial
        self.condition = condition
        self.users = users
        self.mandatory = mandatory
        self.runAtNextLaunch = runAtNextLaunch
        self.unknown = unknown
    }

    /// Whether no rule excludes a device; the dial may still delay the entry.
    package var isForEveryone: Bool {
        rollout == 10_000 && appVersion == nil && dial == .optional && condition == nil && users == nil
            && unknown.isEmpty
    }

    private static let known: Set<String> = [
        "rollout", "appVersion", "dial", "condition", "users", "mandatory", "runAtNextLaunch",
    ]

    package init(_ fields: Fields) throws(FormatError) {
        guard fields.object.members.count <= Limits.rulesOfEntry else {
            throw FormatError(
                fields.document,
                field: fields.path,
                rule: "must hold at most \(Limits.rulesOfEntry) members"
            )
        }
        rollout = fields.has("rollout") ? try fields.integer("rollout", in: 0...10_000) : 10_000
        appVersion = nil
        if let text = try fields.optionalString("appVersion") {
            guard let range = AppVersionRange(text) else { throw fields.broken("appVersion", AppVersionRange.rule) }
            appVersion = range
        }
        dial = .optional
        if let text = try fields.optionalString("dial") {
            guard let use = DialUse(rawValue: text) else { throw fields.broken("dial", "must be optional or required") }
            dial = use
        }
        condition = try fields.optionalString("condition")
        users = nil
        if fields.has("users") {
            var hashes: [SHA256Digest] = []
            for text in try fields.strings("users", limit: Limits.usersOfEntry) {
                guard let hash = SHA256Digest(hex: text) else {
                    throw fields.broken("users", "must hold 64 lowercase hex digits each")
                }
                hashes.append(hash)
            }
            users = hashes
        }
        mandatory = try fields.bool("mandatory", default: false)
        runAtNextLaunch = try fields.bool("runAtNextLaunch", default: false)
        unknown = fields.object.members.map(\.key.text).filter { !Self.known.contains($0) }.sorted()
    }

    /// Omits defaults.
    package var json: JSON {
        .fields([
            ("rollout", .integer(rollout)),
            ("appVersion", appVersion.map { .text($0.text) }),
            ("dial", dial == .optional ? nil : .text(dial.rawValue)),
            ("condition", condition.map { .text($0) }),
            ("users", users.map { .array($0.map { .text($0.hex) }) }),
            ("mandatory", mandatory ? .bool(true) : nil),
            ("runAtNextLaunch", runAtNextLaunch ? .bool(true) : nil),
        ])
    }
}
