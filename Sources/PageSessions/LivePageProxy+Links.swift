import APIProxy
import HTTPFiles
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import PageDiff
import PatchFormat
import PatchTrust

/// A request for what a page may have linked to.
struct LinkedRequest: Equatable, Sendable {
    /// Of one account.
    let key: MD5Digest
    let account: String?

    /// Nil for what is never kept.
    init?(_ request: FileRequest, in rules: ProxyRules) {
        guard request.method == .GET, request.upgrade == nil, !request.headers.contains(name: "Range"),
            !request.headers.contains(name: "Authorization"), !Self.asksAnew(request.headers),
            let rule = rules.rule(for: request.path), let pages = rule.pages, let upstream = rule.upstreams.first
        else { return nil }
        account = pages.account(of: request.headers)
        let target = request.spelledPath + (request.query.map { "?\($0)" } ?? "")
        key = Fingerprint(of: Array("\(account.map { "\($0)_" } ?? "")\(upstream.origin)\(target)".utf8)).md5
    }
}

extension LinkedRequest {
    /// Whether somebody wants what the server has now, as browsers do who load a page again without their cache.
    private static func asksAnew(_ fields: HTTPHeaders) -> Bool {
        (fields["Cache-Control"] + fields["Pragma"]).contains { $0.lowercased().contains("no-cache") }
    }
}

/// How long an answer to a request for a linked resource may be given again.
enum LinkAge {
    private static let longest = 31_536_000

    /// Nil for one that is not kept.
    static func time(of status: Int, _ fields: HTTPHeaders) -> Duration? {
        let varies = fields[canonicalForm: "Vary"].map { $0.lowercased() }
        let rules = fields[canonicalForm: "Cache-Control"].map { $0.lowercased() }
        guard status == 200, !fields.contains(name: "Set-Cookie"), fields.pageCoding(against: nil) != nil,
            varies.allSatisfy({ ["accept-encoding", "origin"].contains($0) }),
            !rules.contains(where: { $0.hasPrefix("no-store") || $0.hasPrefix("no-cache") })
        else { return nil }
        guard let rule = rules.first(where: { $0.hasPrefix("max-age=") }) else { return PageLimits.linkTime }
        let age = fields.first(name: "Age").flatMap { Int($0) } ?? 0
        guard let seconds = Int(rule.dropFirst("max-age=".count)), seconds > 0, age >= 0 else { return nil }
        let left = min(seconds, longest) - min(age, longest)
        return left > 0 ? .seconds(left) : nil
    }
}

/// Jobs of which few run at a time.
final class LinkQueue: Sendable {
    private struct State {
        var running = 0
        var waiting: [LivePageProxy.Job] = []
    }

    private static let maxWaiting = 300
    private let state = NIOLockedValueBox(State())

    /// Nil where others have to end first; a job too many is dropped.
    func added(_ job: @escaping LivePageProxy.Job) -> LivePageProxy.Job? {
        state.withLockedValue { state in
            guard state.running < PageLimits.parallelLinks else {
                if state.waiting.count < Self.maxWaiting { state.waiting.append(job) }
                return nil
            }
            state.running += 1
            return { await self.run(job) }
        }
    }

    private func run(_ first: @escaping LivePageProxy.Job) async {
        var job: LivePageProxy.Job? = first
        while let next = job {
            await next()
            job = state.withLockedValue { state in
                if state.waiting.isEmpty {
                    state.running -= 1
                    return nil
                }
                return state.waiting.removeFirst()
            }
        }
    }
}

/// What pages need next, before anybody asks for it.
extension LivePageProxy {
    /// Gets what a page links to, of its own server alone.
    func beginLinks(_ links: [String], of visit: PageVisit) {
        for link in links.prefix(PageLimits.links) where link.utf8.count <= PageLimits.link {
            let url = link.filter { $0 != " " }
            guard let target = settings.rules.target(of: url, by: visit.rule),
                let request = try? FileRequest(getting: target, headers: visit.request.headers.ofLinks),
                let linked = LinkedRequest(request, in: settings.rules)
            else { continue }
            if let job = self.links.added({ await self.get(request, linked) }) { begin(job) }
        }
    }

    private func get(_ request: FileRequest, _ linked: LinkedRequest) async {
        guard await disk.linked(linked.key, at: settings.now()) == nil else { return }
        _ = await within(PageLimits.answerTime) {
            guard case .stream(let stream) = await self.fetch(request),
                let time = LinkAge.time(of: Int(stream.status.code), stream.headers),
                let coding = stream.headers.pageCoding(against: nil),
                case .whole(let bytes) = await self.collected(stream, coding, limit: PageLimits.linked)
            else { return }
            let now = self.settings.now()
            var record = ShelfRecord(savedAt: now, content: SHA1Digest(of: bytes), until: now.adding(time))
            record.fields = stream.headers.ofKeptPage
            record.account = linked.account.map { ShelfRecord.name(of: $0) }
            self.disk.keepLinked(record, bytes, as: linked.key)
        }
    }

    /// Asks for pages that their rule names, with what the first page of an account was asked for with.
    func beginPreloads(of visit: PageVisit) {
        guard !visit.pages.preload.isEmpty else { return }
        let key = SessionTable.PreloadKey(pattern: visit.rule.pattern.text, account: visit.place.account)
        guard table.withLockedValue({ $0.beginsPreloads(key) }) else { return }
        for target in visit.pages.preload {
            guard let request = try? FileRequest(getting: target, headers: visit.request.headers),
                let page = PageVisit(request, in: settings.rules), page.session != visit.session
            else { continue }
            begin { await self.preload(page) }
        }
    }

    private func preload(_ visit: PageVisit) async {
        let found = await disk.page(visit.session.id)
        let name = nextName()
        let run = table.withLockedValue {
            $0.preload(visit.place, found: found, name: name, at: settings.now())
        }
        guard let run else { return }
        begin {
            try? await self.settings.sleep(PageLimits.preloadTime)
            self.table.withLockedValue { $0.forgetUnopened(run) }
        }
        await ask(visit, run, hasVisitor: false)
    }
}

extension HTTPHeaders {
    /// What a linked resource is asked for with, by what its page was asked for with.
    fileprivate var ofLinks: HTTPHeaders {
        let names: Set = ["host", "cookie", "user-agent", "accept-language"]
        var fields = HTTPHeaders(filter { names.contains($0.name.lowercased()) }.map { ($0.name, $0.value) })
        fields.add(name: "Accept", value: "*/*")
        fields.add(name: "Accept-Encoding", value: "gzip")
        return fields
    }
}
