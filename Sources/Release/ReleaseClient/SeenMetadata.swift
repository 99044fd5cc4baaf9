package import PatchFormat
import PatchCrypto
import PatchTrust

/// The newest metadata of an app that a server has shown, as devices remember it.
///
/// With it, a release tool rejects an older state, as a device does (TUF 5.3.4, 5.4.3, 5.5.5). Otherwise a thief of the online
/// key could present an old release as the current one, and have it promoted.
package struct SeenMetadata: Equatable, Sendable {
    /// The version of the newest root.
    package let root: Int
    /// The keys of all roots up to the newest.
    ///
    /// A root of trust without any of these keys is a different one, with no known state.
    package let rootKeys: Set<SHA256Digest>
    /// The bytes as received.
    package let timestamp: [UInt8]
    package let snapshot: [UInt8]
    package let targets: [UInt8]

    func bytes(of role: String) -> [UInt8]? {
        switch role {
        case "timestamp": timestamp
        case "snapshot": snapshot
        case "targets": targets
        default: nil
        }
    }

    func concerns(_ anchor: TrustedRoot) -> Bool { !rootKeys.isDisjoint(with: anchor.role.keys(of: "root").keys.keys) }

    /// The version that the timestamp states.
    ///
    /// Its signatures are not checked.
    private var timestampVersion: Int {
        let envelope = try? Envelope(timestamp, role: "timestamp", limit: Limits.timestamp)
        return envelope.flatMap { try? TimestampRole($0) }?.header.version ?? 0
    }

    /// Whether `other` is a newer state of the same root of trust.
    func isOlder(than other: SeenMetadata) -> Bool {
        !rootKeys.isDisjoint(with: other.rootKeys)
            && (root, timestampVersion) < (other.root, other.timestampVersion)
    }
}

/// The last known states of an app's servers: one JSON document.
///
/// Each server has its own row, because several servers may publish one app, each at its own pace.
struct SeenDocument: Equatable, Sendable {
    static let format = "patchline-seen-v1"
    static let limit = 64_000_000
    /// The maximum number of servers; those asked last are kept.
    static let servers = 16

    let app: AppID
    /// In the order of use, most recent last.
    private(set) var rows: [(server: String, seen: SeenMetadata)] = []

    init(_ app: AppID) {
        self.app = app
    }

    init(_ bytes: [UInt8], app: AppID, named name: String) throws(FormatError) {
        let fields = try Fields(JSON.document(bytes, named: name, limit: Self.limit), of: name)
        try fields.constant("format", Self.format)
        try fields.constant("app", app.text)
        self.init(app)
        for (index, value) in try fields.array("servers", limit: Self.servers).enumerated() {
            let row = try Fields(value, of: name, at: "\(fields.at("servers"))[\(index)]")
            var keys: Set<SHA256Digest> = []
            for text in try row.strings("rootKeys", limit: 10_000) {
                guard let id = SHA256Digest(hex: text) else { throw row.broken("rootKeys", "must be key ids in hex") }
                keys.insert(id)
            }
            let seen = SeenMetadata(
                root: try row.integer("root", in: 1...(1 << 53 - 1)),
                rootKeys: keys,
                timestamp: Array(try row.string("timestamp").utf8),
                snapshot: Array(try row.string("snapshot").utf8),
                targets: Array(try row.string("targets").utf8)
            )
            rows.append((try row.string("server"), seen))
        }
    }

    subscript(server: String) -> SeenMetadata? { rows.last { $0.server == server }?.seen }

    /// - Parameter replacing: Whether to replace a newer state, because the server was restored.
    mutating func keep(_ seen: SeenMetadata, of server: String, replacing: Bool) {
        if !replacing, let known = self[server], seen.isOlder(than: known) { return }
        rows.removeAll { $0.server == server }
        rows.append((server, seen))
        rows.removeFirst(max(0, rows.count - Self.servers))
    }

    var fileBytes: [UInt8] {
        JSON.fields([
            ("format", .text(Self.format)), ("app", .text(app.text)),
            (
                "servers",
                .array(
                    rows.map { server, seen in
                        .fields([
                            ("server", .text(server)), ("root", .integer(seen.root)),
                            ("rootKeys", .array(seen.rootKeys.sorted().map { .text($0.hex) })),
                            ("timestamp", .text(String(decoding: seen.timestamp, as: UTF8.self))),
                            ("snapshot", .text(String(decoding: seen.snapshot, as: UTF8.self))),
                            ("targets", .text(String(decoding: seen.targets, as: UTF8.self))),
                        ])
                    }
                )
            ),
        ]).fileBytes
    }

    static func == (left: SeenDocument, right: SeenDocument) -> Bool {
        left.app == right.app && left.rows.elementsEqual(right.rows) { $0 == $1 }
    }
}
