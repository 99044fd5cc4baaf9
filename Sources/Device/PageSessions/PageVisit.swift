import APIProxy
import HTTPFiles
import NIOHTTP1
import PageDiff

/// A browser's request for a page under a rule that keeps pages.
struct PageVisit: Sendable {
    let rule: ProxyRule
    let pages: LivePages
    /// As the browser sent it.
    let request: FileRequest
    let place: PagePlace

    var session: PageSession { place.session }

    /// Nil for all requests that pass as they do without a rule's `pages`.
    init?(_ request: FileRequest, in rules: ProxyRules) {
        guard Self.isForDocument(request), let rule = rules.rule(for: request.path),
            let place = PagePlace(request, by: rule), let pages = rule.pages
        else { return nil }
        (self.rule, self.pages, self.request, self.place) = (rule, pages, request, place)
    }

    private static func isForDocument(_ request: FileRequest) -> Bool {
        guard request.method == .GET, request.upgrade == nil, !request.headers.contains(name: "Range"),
            // Whoever shows credentials is no account that is known here.
            !request.headers.contains(name: "Authorization"),
            // A client of its own that speaks the protocol.
            !request.headers.contains(name: PageField.acceptDiff)
        else { return false }
        if let destination = request.headers.first(name: "Sec-Fetch-Dest") { return destination == "document" }
        return request.headers["Accept"].contains { $0.lowercased().contains("text/html") }
    }
}
