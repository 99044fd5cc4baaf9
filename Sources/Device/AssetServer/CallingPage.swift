import PatchFormat

/// The page that a call belongs to, as it identifies itself.
enum CallingPage: Equatable, Sendable {
    /// Identified by its release stamp.
    case page(ReleaseStamp)
    /// Identified by the token of its launch, as by pages of an earlier engine and by programs.
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

    /// Reads the members `page` and `launch` of a call's body.
    init(_ fields: Fields) throws(FormatError) {
        try self.init(page: try fields.optionalString("page"), launch: try fields.optionalString("launch"))
    }

    /// Reads a whole body, which may be empty.
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
