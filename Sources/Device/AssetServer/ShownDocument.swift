import PatchFormat

/// A document of the bundle that a person sees: `POST /__patchline/shown`.
///
/// ```
/// { "page": "0f1e2d3c4b5a69788796a5b4c3d2e1f0", "version": "2.0.0", "age": 412 }
/// ```
struct ShownDocument: Equatable, Sendable {
    /// Bytes of the whole report.
    static let limit = 1_024
    private static let longestVersion = 128
    /// Milliseconds: a year, for a tab that waited in the background.
    private static let longestAge = 366 * 86_400 * 1_000

    let page: ReleaseStamp
    let version: String?
    /// Since its navigation began, which is a little before it was requested.
    let age: Duration
    /// How many reloads did not replace this document.
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

/// What a shown document is to the device.
enum ShownVerdict: String, Sendable {
    /// Of the selection that is served now.
    case current
    /// Of the selection before it, and requested before the switch.
    case previous
    /// From a service worker's or another cache.
    case stale
}
