import APIProxy
import HTTPCore
import HTTPFiles
import PageDiff

/// The page and the account of a request.
struct PagePlace: Sendable {
    let session: PageSession
    let account: String?
    /// The path and query as the browser sent them.
    let target: String

    init?(_ request: FileRequest, by rule: ProxyRule) {
        guard let pages = rule.pages, let upstream = rule.upstreams.first else { return nil }
        account = pages.account(of: request.headers)
        target = request.sentPath.text + (request.query.map { "?\($0)" } ?? "")
        session = PageSession(
            origin: upstream.origin,
            path: request.spelledPath,
            query: request.query,
            account: account,
            counting: pages.parameters
        )
    }
}
