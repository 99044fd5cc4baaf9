package import APIProxy
package import HTTPFiles
import PageSessions
import PatchStore
package import PatchSync

extension Device {
    /// Runs `body` with a proxy that passes requests on to other servers, and stores their pages if a rule requires it.
    ///
    /// Pages are stored in the store's folder `pages`.
    ///
    /// - Parameter report: Receives one line for each upstream that did not answer, and for each page that could not be stored.
    package func proxying<Result: Sendable>(
        _ settings: APIProxy.Settings,
        report: @escaping @Sendable (String) -> Void,
        _ body: (any RequestDelegate) async throws -> Result
    ) async throws -> Result {
        try await APIProxy.with(settings, report: report) { proxy in
            guard settings.rules.rules.contains(where: { $0.pages != nil }) else { return try await body(proxy) }
            var pages = LivePageProxy.Settings(
                rules: settings.rules,
                folder: pagesFolder,
                files: store.files,
                now: now
            )
            pages.report = report
            return try await LivePageProxy.with(pages, before: proxy) { pages in try await body(pages) }
        }
    }
}
