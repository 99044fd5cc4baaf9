package import PatchFormat
import PatchCrypto
import PatchTrust

/// Any TUF repository, as values: change one, then publish the roles that it belongs to.
///
/// Like python-tuf's `RepositorySimulator`: nothing here refuses nonsense.
package struct SimulatedTUF: Sendable {
    /// Who may sign a role, as its delegator says.
    package struct Keys: Sendable {
        package var signers: [SimulatedSigner]
        package var threshold: Int
        /// In place of the ids of the signers.
        package var ids: [String]?
        package var members: [(String, JSON)] = []

        package init(_ signers: [SimulatedSigner], threshold: Int = 1, ids: [String]? = nil) {
            (self.signers, self.threshold, self.ids) = (signers, threshold, ids)
        }

        var json: [(String, JSON?)] {
            [
                ("keyids", .array((ids ?? signers.map(\.id)).map { .text($0) })), ("threshold", .integer(threshold)),
            ] + members.map { ($0, $1) }
        }
    }

    package struct Delegation: Sendable {
        package enum Scope: Sendable {
            case paths([String])
            case hashPrefixes([String])
        }

        package let name: String
        package var keys: Keys
        package var scope: Scope
        package var terminating: Bool

        /// - Parameter keys: nil for the one that every role has by its name.
        package init(_ name: String, _ scope: Scope = .paths(["*"]), terminating: Bool = false, keys: Keys? = nil) {
            (self.name, self.scope, self.terminating) = (name, scope, terminating)
            self.keys = keys ?? Keys([SimulatedSigner(name)])
        }

        var json: JSON {
            let (member, values) =
                switch scope {
                case .paths(let paths): ("paths", paths)
                case .hashPrefixes(let prefixes): ("path_hash_prefixes", prefixes)
                }
            return .fields(
                keys.json + [
                    ("name", .text(name)), ("terminating", .bool(terminating)),
                    (member, .array(values.map { .text($0) })),
                ]
            )
        }
    }

    package struct Role: Sendable {
        /// Of what was published last; 0 for nothing yet.
        package var version = 0
        package var expires: UTCTime
        /// Who signs, wanted or not.
        package var signers: [SimulatedSigner]
        /// Key ids and hex, behind those of the signers.
        package var moreSignatures: [(String, String)] = []
        package var targets: [ExactString: JSON] = [:]
        package var delegations: [Delegation] = []
        /// Members of the signed part, beside its own or in place of them.
        package var members: [(String, JSON)] = []
    }

    package static let topRoles = ["root", "targets", "snapshot", "timestamp"]

    /// Whom the root names.
    package var keys: [String: Keys] = [:]
    package var roles: [ExactString: Role] = [:]
    /// What the snapshot says of each targets role.
    package var meta: [ExactString: JSON] = [:]
    /// What the timestamp says of the snapshot.
    package var snapshotFile: JSON = .null
    package var consistentSnapshot = true
    package var omitsConsistentSnapshot = false
    /// Whether `meta` lists length and SHA-256.
    package var listsHashes = false
    /// By request path.
    package var files: [String: [UInt8]] = [:]
    /// Which publication some bytes are: `targets 2`.
    package private(set) var labels: [[UInt8]: String] = [:]
    private var expires: UTCTime

    /// The four top roles, each with a key of its name, not yet published.
    package init(expires: UTCTime) {
        self.expires = expires
        for name in Self.topRoles {
            keys[name] = Keys([SimulatedSigner(name)])
            roles[ExactString(name)] = Role(expires: expires, signers: [SimulatedSigner(name)])
        }
    }

    /// A role by name; one that was not there is made, signed by the key of its name.
    package subscript(name: String) -> Role {
        get { roles[ExactString(name)] ?? Role(expires: expires, signers: [SimulatedSigner(name)]) }
        set { roles[ExactString(name)] = newValue }
    }

    /// The key with this name takes the place of all keys of a top role.
    package mutating func rotate(_ role: String, to name: String) {
        keys[role] = Keys([SimulatedSigner(name)])
        self[role].signers = [SimulatedSigner(name)]
    }

    package mutating func delegate(_ delegation: Delegation, from delegator: String = "targets") {
        self[delegator].delegations.append(delegation)
        roles[ExactString(delegation.name)] = self[delegation.name]
    }

    /// - Parameter hashes: hex by algorithm, in place of the SHA-256.
    package mutating func addTarget(
        _ path: String,
        _ content: String,
        to role: String = "targets",
        hashes: [String: String]? = nil
    ) {
        let bytes = Array(content.utf8)
        let hashes = hashes ?? ["sha256": SHA256Digest(of: bytes).hex]
        self[role].targets[ExactString(path)] = .fields([
            ("length", .integer(bytes.count)), ("hashes", .fields(hashes.map { ($0, .text($1)) })),
        ])
        for prefix in consistentSnapshot ? hashes.values.map(Optional.some) : [nil] {
            files[URLLayout.target(named: path, prefix: prefix)] = bytes
        }
    }

    /// The next version of each, in this order.
    package mutating func publish(_ names: String...) {
        for name in names { publish(name) }
    }

    package mutating func publish(_ name: String) {
        self[name].version += 1
        let bytes = signed(name)
        let version = self[name].version
        let label = labels.values.contains("\(name) \(version)") ? "\(name) \(version) again" : "\(name) \(version)"
        labels[bytes] = labels[bytes] ?? label
        let isNumbered = name == "root" || (consistentSnapshot && name != "timestamp")
        files[URLLayout.metadata(name, version: isNumbered ? version : nil)] = bytes
        let file = JSON.fields([
            ("version", .integer(version)), ("length", listsHashes ? .integer(bytes.count) : nil),
            ("hashes", listsHashes ? .fields([("sha256", .text(SHA256Digest(of: bytes).hex))]) : nil),
        ])
        switch name {
        case "root", "timestamp": break
        case "snapshot": snapshotFile = file
        default: meta[ExactString(name)] = file
        }
    }

    /// Changes the bytes of what was published; `old` must have been in it.
    package mutating func replace(_ old: String, with new: String, in path: String) {
        let text = String(decoding: files[path] ?? [], as: UTF8.self)
        let parts = text.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
        precondition(parts.count == 2, "\(old) is not in \(path): \(text)")
        files[path] = Array(parts.joined(separator: new).utf8)
    }
}
