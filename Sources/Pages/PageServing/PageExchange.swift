import HTTPCore
import NIOConcurrencyHelpers
package import NIOHTTP1
import PageDiff
import PatchCompression
import PatchFormat
import PatchCrypto

/// One request for a page and its response.
package struct PageExchange: Sendable {
    let route: PageRoute
    let rule: PageRule
    let spelledPath: String
    let client: Client
    let codings: PageCodings
    /// Whether the request has no cookies or credentials.
    let isOpen: Bool
    let memory: PageMemory
    let counted: NIOLockedValueBox<PageTally>

    /// The kind of client.
    enum Client: Equatable, Sendable {
        /// A client that speaks the protocol.
        case asks(PageQuestion)
        /// A browser with a page that is still in memory.
        case has(SHA256Digest, [UInt8])
        /// A browser that accepts compression against a page once it has one, and may store this page for it.
        case mayKeep
        case other
    }

    /// The treatment of a response, decided by its head.
    package enum Plan: Equatable, Sendable {
        /// The response passes while it is received, with these fields.
        case passes(HTTPHeaders)
        /// The response passes, and a copy of at most `limit` bytes is given to ``PageExchange/remember(_:of:)``.
        case copies(limit: Int, HTTPHeaders)
        /// The response is collected first. If it is longer than `limit`, it passes with these fields.
        case collects(limit: Int, else: HTTPHeaders)
    }

    /// A response that replaces the server's.
    package struct Answer: Equatable, Sendable {
        package let status: Int
        package let fields: HTTPHeaders
        package let body: [UInt8]
    }

    /// The fields for the page's server: they ask for the whole page in a supported coding.
    package func asked(_ fields: HTTPHeaders) -> HTTPHeaders {
        guard client != .other else { return fields }
        var fields = fields
        let known = codings.plain.map(\.rawValue).joined(separator: ", ")
        fields.replaceOrAdd(name: "Accept-Encoding", value: known.isEmpty ? "identity" : known)
        fields.remove(name: "Available-Dictionary")
        fields.remove(name: "Dictionary-ID")
        guard case .asks = client else { return fields }
        // The client's tag was computed here. The server has another one, or none.
        for name in [
            PageField.ifNoneMatch, "If-Modified-Since", "If-Range", "Range", PageField.acceptDiff,
            PageField.templateTag,
        ] {
            fields.remove(name: name)
        }
        return fields
    }

    package func plan(status: Int, fields: HTTPHeaders) -> Plan {
        // The server speaks the protocol itself.
        guard status == 200, fields.isPage, !fields.contains(name: PageField.templateTag) else {
            return .passes(fields)
        }
        var passed = fields
        passed.vary(by: client == .other ? Self.asks : Self.asks + Self.codes)
        let length = fields.first(name: "Content-Length").flatMap { Int($0) } ?? 0
        guard Coding(fields) != nil, !fields.cacheDirectives.contains("no-transform"), length <= PageLimits.page else {
            return .passes(passed)
        }
        switch client {
        case .asks, .has: return .collects(limit: PageLimits.page, else: passed)
        case .mayKeep where mayBeDictionary(fields):
            return .copies(limit: PageLimits.page, offered(passed))
        case .mayKeep, .other: return .passes(passed)
        }
    }

    /// Stores a page that was sent to a browser, so that the next one can be compressed against it.
    ///
    /// - Parameters:
    ///   - body: The body as its server sent it.
    ///   - fields: The fields of its response.
    package func remember(_ body: [UInt8], of fields: HTTPHeaders) {
        count(.asItIs, sent: body.count, whole: body.count)
        guard let page = Coding(fields)?.page(of: body) else { return }
        memory.keep(page, as: SHA256Digest(of: page))
    }

    /// The coding of a server's response.
    private enum Coding {
        case plain
        case compressed(CompressionFormat)

        /// Nil for an unsupported coding.
        init?(_ fields: HTTPHeaders) {
            let names = fields["Content-Encoding"].map { $0.lowercased() }
            guard let name = names.first, name != "identity" else {
                self = .plain
                return
            }
            guard names.count == 1, let format = CompressionFormat(rawValue: name) else { return nil }
            self = .compressed(format)
        }

        /// The decoded page, or nil if the body is malformed or too large.
        func page(of body: [UInt8]) -> [UInt8]? {
            switch self {
            case .plain: body
            case .compressed(let format): try? format.decompressed(body, limit: PageLimits.page)
            }
        }
    }

    /// The response that replaces a collected page.
    ///
    /// - Parameters:
    ///   - fields: The fields of the server's response.
    ///   - body: The body as the server sent it.
    package func answer(_ fields: HTTPHeaders, body: [UInt8]) -> Answer {
        let (answer, outcome) = made(fields, body)
        count(outcome, sent: answer.body.count, whole: body.count)
        return answer
    }

    private func count(_ outcome: PageTally.Outcome, sent: Int, whole: Int) {
        counted.withLockedValue { $0.add(outcome, sent: sent, whole: whole) }
    }

    private func made(_ fields: HTTPHeaders, _ body: [UInt8]) -> (Answer, PageTally.Outcome) {
        var asIs = fields
        asIs.vary(by: Self.asks + Self.codes)
        let passed = (Answer(status: 200, fields: asIs, body: body), PageTally.Outcome.asItIs)
        guard let page = Coding(fields)?.page(of: body) else { return passed }
        switch client {
        case .asks(let question):
            let split = SplitPage(page)
            guard split.isMarked || rule.takesUnmarked else { return passed }
            let takesDictionary = codings.takesDictionaries && mayBeDictionary(fields)
            if takesDictionary { memory.keep(page, as: SHA256Digest(of: page)) }
            let reply = PageAnswer(to: question, with: split)
            return (answer(reply, of: split, asIs, takesDictionary), reply.outcome(of: question))
        case .has(let digest, let dictionary) where mayBeDictionary(fields):
            memory.keep(page, as: SHA256Digest(of: page))
            let fields = offered(asIs)
            let answer = compressed(page, against: dictionary, named: digest, fields, plain: body)
            return (answer ?? Answer(status: 200, fields: fields, body: body), answer == nil ? .asItIs : .dictionary)
        case .has, .mayKeep, .other:
            return passed
        }
    }

    private func answer(
        _ answer: PageAnswer,
        of page: SplitPage,
        _ asIs: HTTPHeaders,
        _ takesDictionary: Bool
    ) -> Answer {
        var fields = asIs
        // These fields describe the server's bytes.
        for name in [
            "Content-Length", "Content-Encoding", "ETag", "Last-Modified", "Accept-Ranges", "Content-MD5", "Digest",
            "Content-Digest", "Repr-Digest",
        ] {
            fields.remove(name: name)
        }
        fields.keepFromSharedCaches()
        var rule = rule
        // With `no-store`, clients must not store the page either.
        if fields.cacheDirectives.contains("no-store") { rule.cacheOffline = .keepNothing }
        for (name, value) in answer.fields(of: page, by: rule) { fields.replaceOrAdd(name: name, value: value) }
        switch answer {
        case .notModified:
            fields.remove(name: "Content-Type")
            return Answer(status: 304, fields: fields, body: [])
        case .data(let update):
            fields.replaceOrAdd(name: "Content-Type", value: "application/json; charset=utf-8")
            fields.replaceOrAdd(name: "X-Content-Type-Options", value: "nosniff")
            return encoded(update.bytes, fields, takesDictionary)
        case .page:
            return encoded(page.page, fields, takesDictionary)
        }
    }

    /// The fields of a page that a browser may store as a dictionary for the next one.
    private func offered(_ fields: HTTPHeaders) -> HTTPHeaders {
        var fields = fields
        fields.replaceOrAdd(
            name: DictionaryOffer.offer,
            value: DictionaryOffer.value(for: spelledPath, destination: "document")
        )
        if let seconds = route.dictionarySeconds {
            // A browser drops a dictionary once its page must be revalidated before it is shown.
            let value = "private, max-age=0, stale-while-revalidate=\(seconds)"
            fields.replaceOrAdd(name: "Cache-Control", value: value)
        }
        return fields
    }

    /// The compressed response, or nil if it is not smaller.
    private func compressed(
        _ page: [UInt8],
        against dictionary: [UInt8],
        named digest: SHA256Digest,
        _ fields: HTTPHeaders,
        plain: [UInt8]
    ) -> Answer? {
        let coded = try? DictionaryCompressed.bytes(
            of: page,
            dictionary: dictionary,
            named: digest,
            level: Self.level(for: page.count)
        )
        guard let coded, coded.count < plain.count else { return nil }
        var fields = fields
        fields.remove(name: "Content-Length")
        fields.remove(name: "Accept-Ranges")
        fields.replaceOrAdd(name: "Content-Encoding", value: DictionaryCompressed.coding)
        fields.keepFromSharedCaches(askingAlways: false)
        if let tag = fields.first(name: "ETag"), !tag.lowercased().hasPrefix("w/") {
            fields.replaceOrAdd(name: "ETag", value: "W/\(tag)")
        }
        return Answer(status: 200, fields: fields, body: coded)
    }

    private func encoded(_ content: [UInt8], _ fields: HTTPHeaders, _ takesDictionary: Bool) -> Answer {
        var best: (coding: String, bytes: [UInt8])?
        if let format = codings.plain.first, let bytes = try? format.compressed(content, effort: .quick),
            CompressionFormat.pays(bytes.count, for: content.count)
        {
            best = (format.rawValue, bytes)
        }
        if takesDictionary, let bytes = dictionaryCoded(content),
            bytes.count < best?.bytes.count ?? content.count
        {
            best = (DictionaryCompressed.coding, bytes)
        }
        guard let best else { return Answer(status: 200, fields: fields, body: content) }
        var fields = fields
        fields.replaceOrAdd(name: "Content-Encoding", value: best.coding)
        return Answer(status: 200, fields: fields, body: best.bytes)
    }

    /// Nil if the client has no page that is still in memory.
    private func dictionaryCoded(_ content: [UInt8]) -> [UInt8]? {
        guard let digest = codings.dictionary, let dictionary = memory.page(digest) else { return nil }
        return try? DictionaryCompressed.bytes(
            of: content,
            dictionary: dictionary,
            named: digest,
            level: Self.level(for: content.count)
        )
    }

    /// The zstd level, higher for small pages.
    private static func level(for size: Int) -> Int { size <= 100_000 ? 9 : 5 }

    private func mayBeDictionary(_ fields: HTTPHeaders) -> Bool {
        guard route.dictionaries.hold(isOpen: isOpen), !fields.cacheDirectives.contains("no-store") else {
            return false
        }
        return route.dictionaries == .all || !fields.contains(name: "Set-Cookie")
    }

    private static let asks = [PageField.acceptDiff, PageField.templateTag]
    private static let codes = ["Accept-Encoding", "Available-Dictionary"]
}

extension HTTPHeaders {
    /// Keeps the response out of shared caches.
    ///
    /// Many of them ignore `Vary`, and would send one client's data, or bytes that only it can decode, to all browsers.
    ///
    /// - Parameter askingAlways: Whether clients must revalidate too if the server specifies no lifetime.
    fileprivate mutating func keepFromSharedCaches(askingAlways: Bool = true) {
        let words = self["Cache-Control"].joined(separator: ",").filter { $0 != " " && $0 != "\t" }
        let rules = words.split(separator: ",").map(String.init)
        let others = rules.filter { rule in
            let name = String(rule.lowercased().prefix { $0 != "=" })
            return !name.isEmpty && !["public", "private", "s-maxage", "proxy-revalidate"].contains(name)
        }
        // Quoted values are not parsed here.
        let isPlain = !(others.isEmpty && askingAlways) && !others.contains { $0.contains("\"") }
        let value = (["private"] + (isPlain ? others : ["no-cache"])).joined(separator: ", ")
        replaceOrAdd(name: "Cache-Control", value: value)
        for name in Set(map { $0.name }) where Self.isForSharedCaches(name) { remove(name: name) }
    }

    /// Whether a field is addressed to caches of CDNs and servers, which obey it instead of `Cache-Control`.
    private static func isForSharedCaches(_ name: String) -> Bool {
        let name = name.lowercased()
        // RFC 9213 §3.1: each CDN may have its own field, such as `Cloudflare-CDN-Cache-Control`.
        if name == "cdn-cache-control" || name.hasSuffix("-cdn-cache-control") { return true }
        return ["surrogate-control", "x-accel-expires", "edge-control", "x-litespeed-cache-control"].contains(name)
    }

    fileprivate mutating func vary(by names: [String]) {
        let known = Set(self["Vary"].flatMap { $0.split(separator: ",") }.map { $0.lowercased().filter { $0 != " " } })
        guard !known.contains("*") else { return }
        let new = names.filter { !known.contains($0.lowercased()) }
        if !new.isEmpty { add(name: "Vary", value: new.joined(separator: ", ")) }
    }
}

extension PageAnswer {
    fileprivate func outcome(of question: PageQuestion) -> PageTally.Outcome {
        switch self {
        case .notModified: .notModified
        case .data: .data
        case .page: question.templateTag == nil ? .first : .template
        }
    }
}
