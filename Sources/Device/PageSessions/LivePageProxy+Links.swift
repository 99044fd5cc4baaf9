import APIProxy
import HTTPFiles
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import PageDiff
import PatchFormat
import PatchCrypto

/// Linked resources and preloaded pages.
extension LivePageProxy {
    /// Downloads the resources that a page links to, from its own server only.
    func beginLinks(_ links: [String], of visit: PageVisit) {
        for link in links.prefix(PageLimits.links) where link.utf8.count <= PageLimits.link {
            let url = link.filter { $0 != " " }
            guard let target = settings.rules.target(of: url, by: visit.rule),
                let request = try? FileRequest(resolving: target, headers: visit.request.headers.ofLinks),
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
            var record = DiskCacheRecord(savedAt: now, content: SHA1Digest(of: bytes), until: now.adding(time))
            record.fields = stream.headers.ofKeptPage
            record.account = linked.account.map { DiskCacheRecord.name(of: $0) }
            self.disk.keepLinked(record, bytes, as: linked.key)
        }
    }

    /// Requests the pages listed in the rule's preloads, with the fields of the account's first page request.
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
    /// The fields of a request for a linked resource, derived from those of its page.
    fileprivate var ofLinks: HTTPHeaders {
        let names: Set = ["host", "cookie", "user-agent", "accept-language"]
        var fields = HTTPHeaders(filter { names.contains($0.name.lowercased()) }.map { ($0.name, $0.value) })
        fields.add(name: "Accept", value: "*/*")
        fields.add(name: "Accept-Encoding", value: "gzip")
        return fields
    }
}

extension FileRequest {
    /// The request that a browser sends for a link, with dot segments resolved.
    fileprivate init(resolving target: String, headers: HTTPHeaders) throws {
        let request = try FileRequest(getting: target, headers: headers)
        let query = request.query.map { "?\($0)" } ?? ""
        self = request.isPlain ? request : try FileRequest(getting: request.spelledPath + query, headers: headers)
    }
}
