package import PatchFormat

/// What a server answered, as a client of the protocol reads it.
package struct PageReply: Sendable {
    package let status: Int
    /// Nil where it says nothing of how to keep the page, or in words that are not known.
    package let cacheOffline: CacheOffline?
    package let pageTag: SHA1Digest?
    package let templateTag: SHA1Digest?
    /// Nil where it does not say.
    package let templateChanged: Bool?
    package let links: [String]

    /// - Parameter field: the value of a header field by its name, in letters of either case.
    package init(status: Int, _ field: (String) -> String?) {
        self.status = status
        cacheOffline = field(PageField.cacheOffline).flatMap { CacheOffline(field: $0) }
        let ownName = field(PageField.etagName)
        let tag = ownName.flatMap { field($0) } ?? field(PageField.pageTag) ?? field(PageField.etag)
        pageTag = tag.flatMap { SHA1Digest(tag: $0) }
        templateTag = field(PageField.templateTag).flatMap { SHA1Digest(tag: $0) }
        templateChanged = field(PageField.templateChange).flatMap {
            ["true": true, "false": false][$0.lowercased()]
        }
        links = (field(PageField.links) ?? "").split(separator: ";").map(String.init)
    }

    /// Whether a server that speaks the protocol sent it; all else is a page like any other.
    package var isOfProtocol: Bool {
        cacheOffline != nil && pageTag != nil && templateTag != nil && templateChanged != nil
    }
}
