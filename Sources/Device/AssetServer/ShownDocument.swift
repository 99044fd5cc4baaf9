import PatchFormat

/// The report of a visible document of the bundle: `POST /__patchline/shown`.
///
/// ```
/// { "page": "0f1e2d3c4b5a69788796a5b4c3d2e1f0", "version": "2.0.0", "age": 412 }
/// ```
struct ShownDocument: Equatable, Sendable {
    /// The largest report, in bytes.
    static let limit = 1_024
    private static let longestVersion = 128
    /// The limit in milliseconds: a year, for a tab that waited in the background.
    private static let longestAge = 366 * 86_400 * 1_000

    let page: ReleaseStamp
    let version: String?
    /// The time since its navigation began, which is slightly before its request.
    let age: Duration
    /// The number of reloads that did not replace this document.
    let reloads: Int

    init(page: ReleaseStamp, version: String? = nil, age: Duration, reloads: Int = 0) {
        (self.page, self.version, self.age, self.reloads) = (page, version, age, reloads)
    }

    init(_ body: [UInt8]) throws(FormatError) {
        let fields = try Fields(try JSON.document(body, named: "report", limit: Self.limit), of: "report")
        try fields.allow(["page", "version", "age", "reloads"])
        guard let page = ReleaseStamp(try fields.string("page")) else {
            throw fields.broken("page", ReleaseStamp.rule)
        }
        self.init(
            page: page,
            version: try fields.optionalString("version").map { String($0.prefix(Self.longestVersion)) },
            age: .milliseconds(try fields.integer("age", in: 0...Self.longestAge)),
            reloads: fields.has("reloads") ? try fields.integer("reloads", in: 0...100) : 0
        )
    }
}

/// The relation of a shown document to the served selections.
enum ShownVerdict: String, Sendable {
    /// It belongs to the selection that is served now.
    case current
    /// It belongs to the previous selection, and was requested before the switch.
    case previous
    /// It is from the cache of a service worker, or from another cache.
    case stale
}
