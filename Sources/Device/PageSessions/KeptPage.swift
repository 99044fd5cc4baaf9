package import NIOHTTP1
package import PageDiff
package import PatchFormat

/// A stored page that is shown while its server is asked for changes.
package struct KeptPage: Sendable {
    package let page: SplitPage
    /// The content type and the other fields that are sent with the page each time.
    package let fields: HTTPHeaders
    package let savedAt: UTCTime
    /// Whether the server sent the page's tags.
    ///
    /// Otherwise they were computed here.
    package let usesProtocol: Bool
    /// The server's own entity tag, unchanged.
    package let entityTag: String?
    package let lastModified: String?

    package init(_ page: SplitPage, _ answer: HTTPHeaders, fields: HTTPHeaders, usesProtocol: Bool, at time: UTCTime) {
        self.init(
            page,
            fields: fields,
            savedAt: time,
            usesProtocol: usesProtocol,
            entityTag: answer.first(name: "ETag"),
            lastModified: answer.first(name: "Last-Modified")
        )
    }

    package init(
        _ page: SplitPage,
        fields: HTTPHeaders,
        savedAt: UTCTime,
        usesProtocol: Bool,
        entityTag: String?,
        lastModified: String?
    ) {
        self.page = page
        self.fields = fields
        self.savedAt = savedAt
        self.usesProtocol = usesProtocol
        self.entityTag = entityTag
        self.lastModified = lastModified
    }
}
