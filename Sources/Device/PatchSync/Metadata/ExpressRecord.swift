import PatchFormat

/// The express answers of a device's servers.
///
/// A server without one is not asked at each sync, and a server without news confirms that in a few bytes.
struct ExpressRecord: Equatable {
    static let format = "patchline-express-record-v1"
    private static let limit = 1 + ServerAccess.mirrorsLimit

    enum Answer: Equatable {
        /// The server's tag for its last answer, the newest root in it, and its timestamp.
        case last(tag: String, newestRoot: Int, timestamp: SHA256Digest)
        /// The server had none, and is not asked again before this time.
        case absent(until: UTCTime)
    }

    /// How long a server without express answers is not asked again.
    static let pause = Duration.days(1)

    private(set) var answers: [ServerURL: Answer] = [:]

    init() {}

    init(_ bytes: [UInt8]) throws(FormatError) {
        let fields = try Fields(
            try JSON.document(bytes, named: "express.json", limit: Limits.stateFile),
            of: "express.json"
        )
        try fields.constant("format", Self.format)
        for value in try fields.array("servers", limit: Self.limit) {
            let row = try Fields(value, of: "express.json", at: "servers")
            guard let server = ServerURL(try row.string("server")) else { throw row.broken("server", ServerURL.rule) }
            if row.has("until") {
                answers[server] = .absent(until: try row.time("until"))
            } else {
                answers[server] = .last(
                    tag: try row.string("tag"),
                    newestRoot: try row.integer("root", in: 1...Int(Int32.max)),
                    timestamp: try row.digest("timestamp")
                )
            }
        }
    }

    var json: JSON {
        let rows = answers.sorted { $0.key.text < $1.key.text }.map { server, answer in
            switch answer {
            case .last(let tag, let root, let timestamp):
                JSON.fields([
                    ("server", .text(server.text)), ("tag", .text(tag)), ("root", .integer(root)),
                    ("timestamp", .text(timestamp.hex)),
                ])
            case .absent(let until): JSON.fields([("server", .text(server.text)), ("until", .text(until.description))])
            }
        }
        return .fields([("format", .text(Self.format)), ("servers", .array(rows))])
    }

    /// - Parameter servers: The device's servers in order. The answers of others are removed.
    mutating func set(_ answer: Answer?, of server: ServerURL, among servers: [ServerURL]) {
        answers[server] = answer
        let kept = Set(servers.prefix(Self.limit))
        answers = answers.filter { kept.contains($0.key) }
    }

    /// Whether the server is not asked at this time.
    ///
    /// A clock that was set back does not make the pause longer.
    func isPaused(_ server: ServerURL, at time: UTCTime) -> Bool {
        guard case .absent(let until) = answers[server] else { return false }
        return time < until && until <= time.adding(Self.pause)
    }
}
