import APIProxy
import AssetServer
import AsyncHTTPClient
import HTTPFiles
import HTTPTesting
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import PageDiff
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import SystemPackage
import Testing

@testable import PageSessions

/// A device's pages before a proxy before a server of pages, and a browser in front.
struct PageFixture: Sendable {
    static let folder: FilePath = "/store/pages"

    let port: Int
    let upstream: Int
    let server: PageServer
    let files: FaultyFiles
    let clock: ManualClock
    let sleeps: Sleeps
    let events: PageEvents
    let reports: NIOLockedValueBox<[String]>
    let live: LivePageProxy

    /// - Parameter pages: of the one rule, which is for all paths.
    static func running<Result: Sendable>(
        _ server: PageServer = PageServer(),
        pages: LivePages = LivePages(),
        files: FaultyFiles = FaultyFiles(),
        clock: ManualClock = ManualClock(),
        sleeps: Sleeps = Sleeps(),
        proxy configure: (inout APIProxy.Settings) -> Void = { _ in },
        configure configurePages: (inout LivePageProxy.Settings) -> Void = { _ in },
        _ body: (PageFixture) async throws -> Result
    ) async throws -> Result {
        try await serving(server) { upstream in
            try await running(
                server,
                at: upstream,
                pages: pages,
                files: files,
                clock: clock,
                sleeps: sleeps,
                proxy: configure,
                configure: configurePages,
                body
            )
        }
    }

    /// The same before a server that runs.
    static func running<Result: Sendable>(
        _ server: PageServer,
        at upstream: Int,
        pages: LivePages = LivePages(),
        files: FaultyFiles = FaultyFiles(),
        clock: ManualClock = ManualClock(),
        sleeps: Sleeps = Sleeps(),
        proxy configure: (inout APIProxy.Settings) -> Void = { _ in },
        configure configurePages: (inout LivePageProxy.Settings) -> Void = { _ in },
        _ body: (PageFixture) async throws -> Result
    ) async throws -> Result {
        var rule = try ProxyRule(argument: "/.*=http://127.0.0.1:\(upstream)")
        rule.pages = pages
        let rules = ProxyRules([rule])
        var proxying = APIProxy.Settings(rules: rules, trust: TLSTrust())
        configure(&proxying)
        let reports = NIOLockedValueBox<[String]>([])
        var settings = LivePageProxy.Settings(rules: rules, folder: folder, files: files, now: clock.now)
        settings.sleep = sleeps.sleep
        settings.start = "start"
        settings.report = { line in reports.withLockedValue { $0.append(line) } }
        configurePages(&settings)
        return try await APIProxy.with(proxying) { proxy in
            try await LivePageProxy.with(settings, before: proxy) { live in
                let events = PageEvents(start: "events")
                live.connect(events)
                return try await serving(live) { port in
                    let fixture = PageFixture(
                        port: port,
                        upstream: upstream,
                        server: server,
                        files: files,
                        clock: clock,
                        sleeps: sleeps,
                        events: events,
                        reports: reports,
                        live: live
                    )
                    return try await body(fixture)
                }
            }
        }
    }

    // MARK: A browser

    /// What it got.
    struct Got: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let text: String

        /// Of the visit, as its page learns it.
        var visit: String? {
            headers.first(name: "Server-Timing").map { String($0.dropFirst("patchline-page;desc=\"".count).dropLast()) }
        }
    }

    func get(_ target: String = "/live", cookie: String? = nil, _ more: HTTPHeaders = [:]) async throws -> Got {
        let response = try await open(target, cookie: cookie, more)
        let bytes = try await response.body.collect(upTo: 1 << 26)
        // What is kept is begun before the answer ends.
        await live.written()
        return Got(status: Int(response.status.code), headers: response.headers, text: String(buffer: bytes))
    }

    /// A page, as a tab asks for it.
    func open(_ target: String = "/live", cookie: String? = nil, _ more: HTTPHeaders = [:]) async throws
        -> HTTPClientResponse
    {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(target)")
        request.headers = more
        if !more.contains(name: "Sec-Fetch-Dest") { request.headers.add(name: "Sec-Fetch-Dest", value: "document") }
        if let cookie { request.headers.add(name: "Cookie", value: cookie) }
        return try await HTTPClient.shared.execute(request, timeout: .seconds(300))
    }

    /// What a page is told of its visit.
    func pageResult(_ path: String = "/live", visit: String? = nil, cookie: String? = nil) async throws -> Got {
        let query = "path=\(URLLayout.percentEncoded(path))" + (visit.map { "&visit=\($0)" } ?? "")
        return try await get("/__patchline/page?\(query)", cookie: cookie, ["Sec-Fetch-Dest": "empty"])
    }

    /// Visits a page and waits until all is known of it.
    @discardableResult
    func visit(_ target: String = "/live", cookie: String? = nil) async throws -> (got: Got, pageResult: JSON) {
        let got = try await get(target, cookie: cookie)
        let pageResult = try await pageResult(target, visit: got.visit, cookie: cookie)
        return (got, try JSON.document(Array(pageResult.text.utf8), named: "told", limit: 1 << 24))
    }

    /// The page `/live`, as nobody sees it.
    var session: PageSession { session(of: nil) }

    func session(of account: String?) -> PageSession {
        PageSession(origin: "http://127.0.0.1:\(upstream)", path: "/live", query: nil, account: account)
    }

    /// Whether the last visit's outcome is known.
    func isOver(_ session: PageSession) -> Bool {
        live.table.withLockedValue { $0.visit(nil, of: session)?.end.now } != nil
    }

    // MARK: What is left on disk

    /// The names in the folder of pages, without that of links.
    func names() -> [String] { ((try? files.list(Self.folder)) ?? []).filter { $0 != "links" } }

    /// The pages that are kept.
    func kept() -> [String] {
        names().filter { $0.hasSuffix(".html") }.map {
            String(decoding: (try? files.read(Self.folder.at($0), limit: 1 << 24)) ?? [], as: UTF8.self)
        }
    }
}

/// Waits that end when a test says so.
final class Sleeps: Sendable {
    private typealias Signal = AsyncStream<Never>.Continuation

    private struct State {
        var waiting: [(number: Int, time: Duration, signal: Signal)] = []
        var count = 0
        /// How many began, of each length.
        var begun: [Duration: Int] = [:]
        var watching: [Signal] = []
    }

    private let state = NIOLockedValueBox(State())

    func sleep(_ time: Duration) async throws {
        let (stream, signal) = AsyncStream.makeStream(of: Never.self)
        let (watching, number) = state.withLockedValue { state in
            state.count += 1
            state.waiting.append((state.count, time, signal))
            state.begun[time, default: 0] += 1
            defer { state.watching = [] }
            return (state.watching, state.count)
        }
        for signal in watching { signal.finish() }
        for await _ in stream {}
        // One that was cancelled is nobody's to end.
        state.withLockedValue { $0.waiting.removeAll { $0.number == number } }
        try Task.checkCancellation()
    }

    /// Returns once so many waits of this length have begun.
    func began(_ time: Duration, times: Int = 1) async {
        while true {
            let (stream, signal) = AsyncStream.makeStream(of: Never.self)
            let isDone = state.withLockedValue { state in
                if state.begun[time, default: 0] >= times { return true }
                state.watching.append(signal)
                return false
            }
            if isDone { return }
            for await _ in stream {}
        }
    }

    /// Ends every wait of this length; false where there is none.
    @discardableResult
    func end(_ time: Duration) -> Bool {
        let ended = state.withLockedValue { state in
            defer { state.waiting.removeAll { $0.time == time } }
            return state.waiting.filter { $0.time == time }
        }
        for (_, _, signal) in ended { signal.finish() }
        return !ended.isEmpty
    }
}

/// Returns once it is so; the test's own time limit ends this.
func eventually(_ isSo: () -> Bool) async {
    while !isSo() { await Task.yield() }
}

extension JSON {
    var number: Int? { if case .integer(let number) = self { number } else { nil } }
    var text: String? { if case .string(let text) = self { text.text } else { nil } }
    var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    var names: [String] { object?.members.map(\.key.text) ?? [] }
}
