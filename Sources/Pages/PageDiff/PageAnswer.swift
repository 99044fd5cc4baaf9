import PatchFormat

/// A server's response to a client that speaks the protocol.
///
/// The order of checks is that of VasSonic's own servers: the page's tag, its markers, the template's tag.
package enum PageAnswer: Equatable, Sendable {
    /// The client has the page: status 304.
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

    /// The header fields of the response, apart from the page's own.
    package func fields(of page: SplitPage, by rule: PageRule) -> [(name: String, value: String)] {
        var fields = [(name: rule.etagName, value: page.pageTag.hex)]
        if rule.etagName.lowercased() != PageField.etag.lowercased() {
            fields.append((PageField.etagName, rule.etagName))
        }
        fields.append((PageField.templateTag, page.templateTag.hex))
        switch self {
        case .notModified:
            // The client's page is unchanged, but the instruction on storing it may differ.
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
