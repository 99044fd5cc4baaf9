import APIProxy
import HTTPCore
import HTTPFiles
import NIOHTTP1
import PageDiff

/// A browser's request for a page under a rule that stores pages.
struct PageVisit: Sendable {
    let rule: ProxyRule
    let pages: LivePages
    /// The browser's request, unchanged.
    let request: FileRequest
    let place: PagePlace

    var session: PageSession { place.session }

    /// Nil for requests that pass as they do without a rule's `pages`.
    init?(_ request: FileRequest, in rules: ProxyRules) {
        guard Self.isForDocument(request), let rule = rules.rule(for: request.path),
            let place = PagePlace(request, by: rule), let pages = rule.pages
        else { return nil }
        (self.rule, self.pages, self.request, self.place) = (rule, pages, request, place)
    }

    private static func isForDocument(_ request: FileRequest) -> Bool {
        guard request.method == .GET, request.upgrade == nil, !request.headers.contains(name: "Range"),
            // The account behind these credentials is unknown here.
            !request.headers.contains(name: "Authorization"),
            // The client speaks the protocol itself.
            !request.headers.contains(name: PageField.acceptDiff)
        else { return false }
        if let destination = request.headers.first(name: "Sec-Fetch-Dest") { return destination == "document" }
        return request.headers.acceptedTypes.contains("text/html")
    }
}
