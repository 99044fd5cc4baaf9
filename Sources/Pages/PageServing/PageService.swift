import NIOConcurrencyHelpers
package import NIOHTTP1
import PageDiff

/// What a site's pages are answered with: by which routes, and what later ones are compressed against.
package struct PageService: Sendable {
    package static let memory = 64_000_000

    let routes: PageRoutes
    let memory: PageMemory
    let counted = NIOLockedValueBox(PageTally())

    /// What became of pages until now.
    package var tally: PageTally { counted.withLockedValue(\.self) }
    /// Of the pages that are kept in memory.
    package var keptBytes: Int { memory.bytes }

    /// - Parameter memory: of pages that were sent, in bytes.
    package init(_ routes: PageRoutes = .all, memory: Int = memory) {
        self.routes = routes
        self.memory = PageMemory(limit: memory)
    }

    /// What is to be done for a request; nil where it and its answer pass as they are.
    ///
    /// - Parameters:
    ///   - path: decoded.
    ///   - spelledPath: as it stands in the request's target.
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
        // What browsers say of their navigations, and only where dictionaries are allowed: over HTTPS, and on this machine.
        return fields.first(name: "Sec-Fetch-Dest") == "document" ? .mayKeep : .other
    }
}
