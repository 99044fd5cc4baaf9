package import NIOHTTP1
package import PageDiff
package import PatchFormat

/// A page as it was last seen, which is shown while its server is asked.
package struct KeptPage: Sendable {
    package let page: SplitPage
    /// Its type, and what else goes with it each time.
    package let fields: HTTPHeaders
    package let savedAt: UTCTime
    /// Whether its server sent its tags; else they were made here.
    package let isOfProtocol: Bool
    /// The server's own, as it sent it.
    package let entityTag: String?
    package let lastModified: String?

    package init(_ page: SplitPage, _ answer: HTTPHeaders, fields: HTTPHeaders, isOfProtocol: Bool, at time: UTCTime) {
        self.init(
            page,
            fields: fields,
            savedAt: time,
            isOfProtocol: isOfProtocol,
            entityTag: answer.first(name: "ETag"),
            lastModified: answer.first(name: "Last-Modified")
        )
    }

    package init(
        _ page: SplitPage,
        fields: HTTPHeaders,
        savedAt: UTCTime,
        isOfProtocol: Bool,
        entityTag: String?,
        lastModified: String?
    ) {
        self.page = page
        self.fields = fields
        self.savedAt = savedAt
        self.isOfProtocol = isOfProtocol
        self.entityTag = entityTag
        self.lastModified = lastModified
    }
}
