import PatchCrypto
package import PatchFormat

/// Root: the keys and thresholds of the four top roles.
package struct RootRole: Sendable {
    package static let roleNames = ["root", "targets", "snapshot", "timestamp"]

    package let header: RoleHeader
    package let consistentSnapshot: Bool
    package let roles: [String: RoleKeys]
    /// The app that this root of trust is for.
    package var app: AppID? { header.app }

    package init(_ envelope: Envelope) throws(FormatError) {
        let fields = try Fields(envelope.signed, of: "root")
        header = try RoleHeader(fields, type: "root")
        consistentSnapshot = try fields.bool("consistent_snapshot", default: false)
        let keys = try fields.keys("keys")
        let table = try fields.fields("roles")
        var roles: [String: RoleKeys] = [:]
        for name in Self.roleNames { roles[name] = try table.fields(name).roleKeys(among: keys) }
        self.roles = roles
    }

    package func keys(of role: String) -> RoleKeys {
        guard let keys = roles[role] else { preconditionFailure("\(role) is not a top role") }
        return keys
    }
}

/// A referrer's description of a role's file.
package struct RoleFile: Hashable, Sendable {
    package let version: Int
    /// The size in bytes, or nil if the referrer does not contain it.
    package let length: Int?
    package let hashes: ListedHashes?

    package var sha256: SHA256Digest? { hashes?.sha256 }

    package init(version: Int, length: Int?, sha256: SHA256Digest?) {
        self.version = version
        self.length = length
        hashes = sha256.map { ListedHashes(sha256: $0) }
    }

    init(_ fields: Fields) throws(FormatError) {
        version = try fields.integer("version", in: 1...(1 << 53 - 1))
        length = fields.has("length") ? try fields.integer("length", in: 1...Limits.object) : nil
        hashes = fields.has("hashes") ? try ListedHashes(fields) : nil
    }

    package var json: JSON {
        .fields([
            ("version", .integer(version)), ("length", length.map { .integer($0) }), ("hashes", hashes?.json),
        ])
    }

    /// Whether these bytes match the description.
    package func matches(_ bytes: [UInt8]) -> Bool {
        (try? check(bytes, name: "")) != nil
    }

    /// Checks length and every digest, before the bytes are parsed.
    func check(_ bytes: [UInt8], name: String) throws(TrustError) {
        if let length, bytes.count != length { throw .wrongLength(name: name, found: bytes.count, expected: length) }
        try hashes?.check(bytes, name: name)
    }
}

/// Timestamp: the current snapshot, and the time of this statement.
package struct TimestampRole: Sendable {
    package let header: RoleHeader
    package let snapshot: RoleFile
    /// When the online key made this statement; Patchline's own member.
    package let signedAt: UTCTime?

    package init(_ envelope: Envelope) throws(FormatError) {
        let fields = try Fields(envelope.signed, of: "timestamp")
        header = try RoleHeader(fields, type: "timestamp")
        let meta = try fields.fields("meta")
        guard meta.object.members.count == 1 else {
            throw fields.broken("meta", "must hold snapshot.json and nothing else")
        }
        snapshot = try RoleFile(try meta.fields("snapshot.json"))
        signedAt = fields.has("x-signed-at") ? try fields.time("x-signed-at") : nil
    }
}

/// Snapshot: the current version of every targets role.
package struct SnapshotRole: Sendable {
    package let header: RoleHeader
    /// The files by role name, without `.json`.
    package let files: [ExactString: RoleFile]

    package init(_ envelope: Envelope) throws(FormatError) {
        let fields = try Fields(envelope.signed, of: "snapshot")
        header = try RoleHeader(fields, type: "snapshot")
        let meta = try fields.fields("meta")
        var files: [ExactString: RoleFile] = [:]
        for member in meta.object.members {
            // By bytes: in Swift's characters, a combining mark before the point would hide it.
            let name = Array(member.key.text.utf8)
            guard name.suffix(5) == Array(".json".utf8)[...] else {
                throw meta.broken(member.key.text, "must end in .json")
            }
            let role = ExactString(String(decoding: name.dropLast(5), as: UTF8.self))
            files[role] = try RoleFile(try meta.fields(of: member))
        }
        self.files = files
    }
}

/// A targets role: the top one, a channel's, or the dial's.
package struct TargetsRole: Sendable {
    package let name: String
    package let header: RoleHeader
    /// The targets by path.
    package let targets: [ExactString: TargetFile]
    /// The delegations in order of appearance.
    package let delegations: [Delegation]
    /// The keys that sign entries of this channel; Patchline's own member.
    package let entryKeys: EntryKeys
    /// In the top role: the channels that have been retired permanently; Patchline's own member.
    ///
    /// Their names are never delegated again, because a snapshot keeps the last version of each and a reader rejects a lower one.
    package let retired: [ChannelName]

    package static let retiredMember = "x-patchline-retired"

    package init(_ envelope: Envelope, name: String) throws(FormatError) {
        let fields = try Fields(envelope.signed, of: name)
        self.name = name
        header = try RoleHeader(fields, type: "targets")
        let table = try fields.fields("targets")
        var targets: [ExactString: TargetFile] = [:]
        for member in table.object.members {
            let row = try table.fields(of: member)
            targets[member.key] = TargetFile(
                length: try row.integer("length", in: 0...Limits.object),
                hashes: try ListedHashes(row)
            )
        }
        self.targets = targets
        var delegations: [Delegation] = []
        if fields.has("delegations") {
            let part = try fields.fields("delegations")
            let keys = try part.keys("keys")
            var names: Set<ExactString> = []
            for (index, value) in try part.array("roles", limit: 1_000).enumerated() {
                let row = try Fields(value, of: name, at: "\(part.at("roles"))[\(index)]")
                let delegation = try Delegation(row, keys: keys)
                guard names.insert(ExactString(delegation.name)).inserted else {
                    throw row.broken("name", "is listed twice")
                }
                delegations.append(delegation)
            }
        }
        self.delegations = delegations
        entryKeys = fields.has(EntryKeys.member) ? try EntryKeys(fields) : .none
        var retired: [ChannelName] = []
        if fields.has(Self.retiredMember) {
            for text in try fields.strings(Self.retiredMember, limit: 1_000) {
                guard let channel = ChannelName(text) else { throw fields.broken(Self.retiredMember, ChannelName.rule) }
                retired.append(channel)
            }
        }
        self.retired = retired.sorted()
    }

    /// Whether it is a retired channel, which has no delegation.
    package func hasRetired(_ role: String) -> Bool {
        delegation(to: role) == nil && retired.contains { $0.text.hasSameBytes(as: role) }
    }

    package func delegation(to role: String) -> Delegation? {
        delegations.first { $0.name.hasSameBytes(as: role) }
    }
}

/// One role that a targets role trusts for some paths.
package struct Delegation: Sendable {
    package enum Scope: Hashable, Sendable {
        /// Glob patterns by path component. `*` and `?` never match `/`.
        case paths([String])
        /// Prefixes of the hex SHA-256 of the target path.
        case hashPrefixes([String])
    }

    package let name: String
    package let keys: RoleKeys
    package let terminating: Bool
    package let scope: Scope

    init(_ fields: Fields, keys: [SHA256Digest: TUFKey]) throws(FormatError) {
        name = try fields.string("name")
        guard !name.isEmpty, !RootRole.roleNames.contains(name) else {
            throw fields.broken("name", "must not be empty or the name of a top role")
        }
        self.keys = try fields.roleKeys(among: keys)
        terminating = try fields.bool("terminating")
        switch (fields.has("paths"), fields.has("path_hash_prefixes")) {
        case (true, false): scope = .paths(try fields.strings("paths", limit: 1_000))
        case (false, true): scope = .hashPrefixes(try fields.strings("path_hash_prefixes", limit: 70_000))
        case (true, true), (false, false):
            throw fields.broken("paths", "must be given, or path_hash_prefixes, but not both")
        }
    }

    /// Whether `target` is delegated to the role.
    package func covers(_ target: String) -> Bool {
        switch scope {
        case .paths(let patterns):
            return patterns.contains { PathPattern($0).matches(target) }
        case .hashPrefixes(let prefixes):
            let hash = SHA256Digest(of: Array(target.utf8)).hex
            return prefixes.contains { hash.hasPrefix($0) }
        }
    }
}
