import PatchFormat

/// What a server answers a client that speaks the protocol.
///
/// The order is that of VasSonic's own servers: the page's tag, its markers, the template's tag.
package enum PageAnswer: Equatable, Sendable {
    /// 304.
    case notModified
    case data(DataUpdate)
    /// The whole page.
    case page

    package init(to question: PageQuestion, with page: SplitPage) {
        if question.pageTag == page.pageTag {
            self = .notModified
        } else if question.templateTag == page.templateTag, page.isMarked, let data = page.data {
            self = .data(DataUpdate(data: data, pageTag: page.pageTag, templateTag: page.templateTag))
        } else {
            self = .page
        }
    }

    /// The header fields that say it, beside the page's own.
    package func fields(of page: SplitPage, by rule: PageRule) -> [(name: String, value: String)] {
        var fields = [(name: rule.etagName, value: page.pageTag.hex)]
        if rule.etagName.lowercased() != PageField.etag.lowercased() {
            fields.append((PageField.etagName, rule.etagName))
        }
        fields.append((PageField.templateTag, page.templateTag.hex))
        switch self {
        case .notModified:
            // What a client has is still so; what it is told to do with it may not be.
            let offline = rule.cacheOffline == .keepAndRefresh ? CacheOffline.keepForLater : rule.cacheOffline
            fields.append((PageField.cacheOffline, offline.rawValue))
        case .data, .page:
            fields.append((PageField.cacheOffline, rule.cacheOffline.rawValue))
            fields.append((PageField.templateChange, self == .page ? "true" : "false"))
        }
        if !rule.links.isEmpty { fields.append((PageField.links, rule.links.joined(separator: ";"))) }
        return fields
    }
}

/// How pages under some path are answered.
package struct PageRule: Equatable, Sendable {
    package var cacheOffline = CacheOffline.keepAndRefresh
    /// URLs that clients are to have before they show the page.
    package var links: [String] = []
    /// The header field of the page's tag.
    package var etagName = PageField.etag
    /// Whether pages without a marker are answered too: kept as a whole.
    package var takesUnmarked = false

    package init() {}

    package static let linksRule = "must hold URLs without blanks, semicolons and control characters"

    /// Whether these can be one header field of links.
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
