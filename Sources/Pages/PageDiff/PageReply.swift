package import PatchFormat

/// The head of a server's response, as a client with the protocol reads it.
package struct PageReply: Sendable {
    package let status: Int
    /// The instruction on storing the page, or nil if it is missing or unknown.
    package let cacheOffline: CacheOffline?
    package let pageTag: SHA1Digest?
    package let templateTag: SHA1Digest?
    /// Whether the template changed, or nil if the field is missing.
    package let templateChanged: Bool?
    package let links: [String]

    /// - Parameter field: Returns the value of a header field by its name, ignoring case.
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

    /// Whether the server speaks the protocol.
    ///
    /// Other responses are ordinary pages.
    package var usesProtocol: Bool {
        cacheOffline != nil && pageTag != nil && templateTag != nil && templateChanged != nil
    }
}
