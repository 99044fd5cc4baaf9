import NIOConcurrencyHelpers
package import NIOHTTP1
import PageDiff

/// Responds to requests for a site's pages, by its routes and with the stored pages to compress against.
package struct PageService: Sendable {
    package static let memory = 64_000_000

    let routes: PageRoutes
    let memory: PageMemory
    let counted = NIOLockedValueBox(PageTally())

    /// The counts of responses so far.
    package var tally: PageTally { counted.withLockedValue(\.self) }
    /// The size of the pages in memory.
    package var keptBytes: Int { memory.bytes }

    /// - Parameter memory: The size of stored pages, in bytes.
    package init(_ routes: PageRoutes = .all, memory: Int = memory) {
        self.routes = routes
        self.memory = PageMemory(limit: memory)
    }

    /// The exchange for a request, or nil if the request and its response pass unchanged.
    ///
    /// - Parameters:
    ///   - path: The decoded path.
    ///   - spelledPath: The path as written in the request's target.
    package func exchange(
        _ method: HTTPMethod,
        path: [String],
        spelledPath: String,
        fields: HTTPHeaders
    ) -> PageExchange? {
        guard method == .GET, let route = routes.route(for: path), let rule = route.rule else { return nil }
        let codings = PageCodings(fields)
        let isOpen = !fields.contains(name: "Cookie") && !fields.contains(name: "Authorization")
        return PageExchange(
            route: route,
            rule: rule,
            spelledPath: spelledPath,
            client: client(fields, codings, takesDictionaries: route.dictionaries.hold(isOpen: isOpen)),
            codings: codings,
            isOpen: isOpen,
            memory: memory,
            counted: counted
        )
    }

    private func client(
        _ fields: HTTPHeaders,
        _ codings: PageCodings,
        takesDictionaries: Bool
    ) -> PageExchange.Client {
        if let question = PageQuestion({ fields.first(name: $0) }) { return .asks(question) }
        guard takesDictionaries else { return .other }
        if let digest = codings.dictionary, let page = memory.page(digest) { return .has(digest, page) }
        // Browsers send this field with navigations, but only where dictionaries work: over HTTPS and to this machine.
        return fields.first(name: "Sec-Fetch-Dest") == "document" ? .mayKeep : .other
    }
}
