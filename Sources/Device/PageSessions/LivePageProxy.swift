package import APIProxy
package import AssetServer
package import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import NIOPosix
import PageDiff
package import PatchFormat
package import PatchStore
import PatchCrypto
package import SystemPackage

/// Shows the pages of some rules at once as they were stored, while their servers are asked for changes.
///
/// ```
/// no page stored ──▶ it streams from its server, and is stored at its end          1000
/// a page stored  ──▶ it is shown ──▶ the server's response: unchanged               304
///                                                           some blocks changed     200, with the blocks
///                                                           its template changed   2000
/// ```
///
/// All other requests pass to the proxy behind it.
package final class LivePageProxy: PageDelegate {
    package struct Settings: Sendable {
        package var rules: ProxyRules
        /// The folder for stored pages, created with the first one.
        package var folder: FilePath
        package var files: any FileOperations
        package var now: @Sendable () -> UTCTime
        package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        /// A name of this start, which distinguishes its visits from those of other starts.
        package var start = AccessToken.make().text
        /// Receives one line for each page that could not be stored.
        package var report: @Sendable (String) -> Void = { _ in }
        package var pagesOnDisk = PageLimits.pagesOnDisk
        package var linksOnDisk = PageLimits.linksOnDisk

        package init(
            rules: ProxyRules,
            folder: FilePath,
            files: any FileOperations,
            now: @escaping @Sendable () -> UTCTime
        ) {
            self.rules = rules
            self.folder = folder
            self.files = files
            self.now = now
        }
    }

    typealias Job = @Sendable () async -> Void

    package let acceptsBodies = true
    let settings: Settings
    let proxy: any RequestDelegate
    let table = NIOLockedValueBox(SessionTable())
    let disk: PageDisk
    let links: LinkQueue
    private let jobs: AsyncStream<Job>.Continuation
    private let visits = NIOLockedValueBox(0)
    private let events = NIOLockedValueBox<PageEvents?>(nil)

    private init(_ settings: Settings, before proxy: any RequestDelegate, jobs: AsyncStream<Job>.Continuation) {
        (self.settings, self.proxy, self.jobs) = (settings, proxy, jobs)
        disk = PageDisk(settings)
        links = LinkQueue()
    }

    /// Runs `body` with pages in front of a proxy.
    ///
    /// When it returns, requests in progress have ended and pages are on disk.
    package static func with<Result: Sendable>(
        _ settings: Settings,
        before proxy: any RequestDelegate,
        _ body: (LivePageProxy) async throws -> Result
    ) async throws -> Result {
        let (jobs, more) = AsyncStream.makeStream(of: Job.self)
        let pages = LivePageProxy(settings, before: proxy, jobs: more)
        pages.disk.begin()
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { work in
                    for await job in jobs { work.addTask { await job() } }
                }
            }
            let result: Swift.Result<Result, any Error>
            do { result = .success(try await body(pages)) } catch { result = .failure(error) }
            more.finish()
            group.cancelAll()
            return result
        }
        await pages.disk.end()
        return try result.get()
    }

    package func connect(_ events: PageEvents) { self.events.withLockedValue { $0 = events } }

    package func takes(_ request: FileRequest) -> Bool { PageCall.isPageCall(request) || proxy.takes(request) }

    package func passesAsSent(_ request: FileRequest) -> Bool { proxy.passesAsSent(request) }

    package func decide(_ request: FileRequest) -> FileDecision {
        if PageCall.isPageCall(request) { return .later(.whole, answer(toCall:)) }
        if let visit = PageVisit(request, in: settings.rules) {
            return .later(.whole) { await self.answer(PageVisit($0, in: self.settings.rules) ?? visit) }
        }
        // Other requests pass as they do without pages, and end with their client.
        if let linked = LinkedRequest(request, in: settings.rules), disk.mayHave(linked.key) {
            return .later(.whole) { request in
                if let answer = await self.disk.linked(linked.key, at: self.settings.now()) { return answer }
                return await self.fetch(request)
            }
        }
        let decision = proxy.decide(request)
        guard currentAccount(request) != nil else { return decision }
        return decision.replacing { work in
            { request in
                let answer = await work(request)
                self.noteEnd(of: request, answer)
                return answer
            }
        }
    }

    /// Returns the proxy's response.
    func fetch(_ request: FileRequest) async -> FileAnswer {
        let answer = await proxy.decide(request).answer(to: request)
        noteEnd(of: request, answer)
        return answer
    }

    private func currentAccount(_ request: FileRequest) -> (LivePages, String)? {
        guard let pages = settings.rules.rule(for: request.path)?.pages,
            let account = pages.account(of: request.headers)
        else { return nil }
        return (pages, account)
    }

    /// Drops everything stored for an account when a response ends its session, so that signing out leaves no data.
    private func noteEnd(of request: FileRequest, _ answer: FileAnswer) {
        guard case .stream(let stream) = answer, let (pages, account) = currentAccount(request),
            pages.changesAccount(stream.headers, from: account)
        else { return }
        table.withLockedValue { $0.end(of: account) }
        disk.drop(account: account)
    }

    func begin(_ job: @escaping Job) { jobs.yield(job) }

    func nextName() -> String {
        visits.withLockedValue { number in
            number += 1
            return "\(settings.start)-\(number)"
        }
    }

    func notify(_ event: PageEvent) { events.withLockedValue(\.self)?.notify(event) }
}

extension LivePageProxy {
    /// Returns once all pages stored so far are on disk.
    package func written() async { await disk.written() }

    /// The number of preloaded pages in memory that were never opened.
    package var preloaded: Int { table.withLockedValue(\.pagesUnopened) }
}
