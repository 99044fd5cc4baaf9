import PatchFormat

/// The page that a call speaks for, as it names itself.
enum PageSpeaker: Equatable, Sendable {
    /// By its release stamp.
    case page(ReleaseStamp)
    /// By the token of its launch: pages of an earlier engine, and programs.
    case launch(String)
    case unnamed

    init(page: String?, launch: String?) throws(FormatError) {
        if let page {
            guard let stamp = ReleaseStamp(page) else {
                throw FormatError("request", field: "page", rule: ReleaseStamp.rule)
            }
            self = .page(stamp)
        } else if let launch {
            self = .launch(launch)
        } else {
            self = .unnamed
        }
    }

    /// Of the members `page` and `launch` of a call's body.
    init(_ fields: Fields) throws(FormatError) {
        try self.init(page: try fields.optionalString("page"), launch: try fields.optionalString("launch"))
    }

    /// Of a whole body, which may be empty.
    init(body: [UInt8]) throws(FormatError) {
        guard !body.isEmpty else {
            self = .unnamed
            return
        }
        let json = try JSON.document(body, named: "request", limit: ShownDocument.limit)
        let fields = try Fields(json, of: "request")
        try fields.allow(["page", "launch"])
        try self.init(fields)
    }
}
