package import APIProxy
package import HTTPFiles
import PageSessions
import PatchStore
package import PatchSync

extension Device {
    /// Runs `body` with what passes requests on to other servers, and keeps their pages where a rule says so.
    ///
    /// Pages are kept in the store's folder `pages`.
    ///
    /// - Parameter report: gets one line about each upstream that gave no answer, and about what could not be kept.
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
