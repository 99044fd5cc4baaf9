import NIOHTTP1
import PageDiff
import PatchCompression
import PatchFormat
import PatchCrypto

extension HTTPHeaders {
    /// What a page's server is asked with: as the browser asks, but in the protocol's words.
    ///
    /// - Parameter kept: the page whose tags are sent.
    func asking(for kept: KeptPage?) -> HTTPHeaders {
        var fields = self
        for name in ["If-None-Match", "If-Modified-Since", "If-Range"] { fields.remove(name: name) }
        // What came is checked here, and shown by another server: ours.
        fields.replaceOrAdd(name: "Accept-Encoding", value: "zstd, gzip")
        if let kept, kept.isOfProtocol {
            fields.replaceOrAdd(name: "Accept-Encoding", value: "\(DictionaryCompressed.coding), zstd, gzip")
            let name = Base64.text(SHA256Digest(of: kept.page.page).bytes)
            fields.replaceOrAdd(name: DictionaryOffer.available, value: ":\(name):")
        }
        let question = PageQuestion(pageTag: kept?.page.pageTag, templateTag: kept?.page.templateTag)
        for (name, value) in question.fields { fields.replaceOrAdd(name: name, value: value) }
        // A server that knows nothing of the protocol knows its own tag.
        if let kept, !kept.isOfProtocol {
            fields.remove(name: "If-None-Match")
            if let tag = kept.entityTag { fields.add(name: "If-None-Match", value: tag) }
            if let time = kept.lastModified { fields.add(name: "If-Modified-Since", value: time) }
        }
        return fields
    }

    /// What of an answer goes with its page each time that it is shown from here.
    ///
    /// Nothing of one account's session, and nothing that speaks of the one answer.
    var ofKeptPage: HTTPHeaders {
        HTTPHeaders(filter { Self.kept.contains($0.name.lowercased()) }.map { ($0.name, $0.value) })
    }

    private static let kept: Set = [
        "content-type", "content-language", "content-security-policy", "content-security-policy-report-only",
        "cross-origin-embedder-policy", "cross-origin-opener-policy", "link", "permissions-policy", "referrer-policy",
        "x-content-type-options", "x-frame-options",
    ]

    /// A page's fields after an update, which may say its own type: JSON's.
    func updated(by update: HTTPHeaders) -> HTTPHeaders {
        var fields = self
        let new = update.ofKeptPage.filter { $0.name.lowercased() != "content-type" }
        // A name may stand on several lines.
        for (name, _) in new { fields.remove(name: name) }
        fields.add(contentsOf: new.map { ($0.name, $0.value) })
        return fields
    }

    /// What a browser gets of the answer to a first load, beside the name of its visit.
    ///
    /// Its tags go: the browser would ask with them, and a page that is kept here is no answer to that.
    func ofFirstLoad(decoded: Bool) -> HTTPHeaders {
        var fields = self
        let protocolFields = [
            PageField.etag, PageField.templateTag, PageField.templateChange, PageField.cacheOffline, PageField.etagName,
            PageField.links, PageField.pageTag,
        ]
        for name in protocolFields + ["Last-Modified", "Expires", "Content-Length"] { fields.remove(name: name) }
        if decoded { fields.remove(name: "Content-Encoding") }
        fields.replaceOrAdd(name: "Cache-Control", value: "no-store")
        return fields
    }

    mutating func name(visit: String) {
        add(name: "Server-Timing", value: "patchline-page;desc=\"\(visit)\"")
    }

    /// Nil for a coding that is not read here.
    ///
    /// - Parameter page: the one that its server was told of.
    func pageCoding(against page: SplitPage?) -> PageCoding? {
        switch self[canonicalForm: "Content-Encoding"].map({ $0.lowercased() }) {
        case [], ["identity"]: .identity
        case ["gzip"], ["x-gzip"]: .compressed(.gzip)
        case ["zstd"]: .compressed(.zstandard)
        case [DictionaryCompressed.coding]: page.map { .against($0.page) }
        default: nil
        }
    }
}

/// How a page's bytes travel.
enum PageCoding: Equatable, Sendable {
    case identity
    case compressed(CompressionFormat)
    /// Compressed against a page that both sides have.
    case against([UInt8])
}
