import PatchFormat

/// The settings for pages under a path.
package struct PageRule: Equatable, Sendable {
    package var cacheOffline = CacheOffline.keepAndRefresh
    /// URLs that clients download before they show the page.
    package var links: [String] = []
    /// The header field with the page's tag.
    package var etagName = PageField.etag
    /// Whether the protocol also applies to pages without markers, which are stored as a whole.
    package var takesUnmarked = false

    package init() {}

    package static let linksRule = "must hold URLs without blanks, semicolons and control characters"

    /// Whether the links fit into one header field.
    package static func areLinks(_ links: [String]) -> Bool {
        links.count <= PageLimits.links && links.reduce(0) { $0 + $1.utf8.count + 1 } <= PageLimits.field
            && links.allSatisfy { link in
                !link.isEmpty && link.utf8.count <= PageLimits.link
                    && link.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ";") }
            }
    }

    package static let etagNameRule = "must be a header field's name"

    package static func isETagName(_ text: String) -> Bool { text.utf8.count <= 100 && PageField.isName(text) }
}
