import NIOHTTP1
import PageDiff
import PatchCompression
import PatchFormat
import PatchCrypto

extension HTTPHeaders {
    /// The fields of a request to the page's server: the browser's own, with the protocol's additions.
    ///
    /// - Parameter kept: The page whose tags are sent.
    func asking(for kept: KeptPage?) -> HTTPHeaders {
        var fields = self
        for name in ["If-None-Match", "If-Modified-Since", "If-Range"] { fields.remove(name: name) }
        // The body is checked and decoded here, and then sent by this server.
        fields.replaceOrAdd(name: "Accept-Encoding", value: "zstd, gzip")
        if let kept, kept.usesProtocol {
            fields.replaceOrAdd(name: "Accept-Encoding", value: "\(DictionaryCompressed.coding), zstd, gzip")
            let name = Base64.text(SHA256Digest(of: kept.page.page).bytes)
            fields.replaceOrAdd(name: DictionaryOffer.available, value: ":\(name):")
        }
        let question = PageQuestion(pageTag: kept?.page.pageTag, templateTag: kept?.page.templateTag)
        for (name, value) in question.fields { fields.replaceOrAdd(name: name, value: value) }
        // A server that does not know the protocol knows only its own tag.
        if let kept, !kept.usesProtocol {
            fields.remove(name: "If-None-Match")
            if let tag = kept.entityTag { fields.add(name: "If-None-Match", value: tag) }
            if let time = kept.lastModified { fields.add(name: "If-Modified-Since", value: time) }
        }
        return fields
    }

    /// The fields of a response that are stored and sent with its page each time.
    ///
    /// Fields of one account's session or of one response are excluded.
    var ofKeptPage: HTTPHeaders {
        HTTPHeaders(filter { Self.kept.contains($0.name.lowercased()) }.map { ($0.name, $0.value) })
    }

    private static let kept: Set = [
        "content-type", "content-language", "content-security-policy", "content-security-policy-report-only",
        "cross-origin-embedder-policy", "cross-origin-opener-policy", "link", "permissions-policy", "referrer-policy",
        "x-content-type-options", "x-frame-options",
    ]

    /// The fields of a page after an update.
    ///
    /// The update's content type is ignored, because it may be JSON's.
    func updated(by update: HTTPHeaders) -> HTTPHeaders {
        var fields = self
        let new = update.ofKeptPage.filter { $0.name.lowercased() != "content-type" }
        // A name may occur on several lines.
        for (name, _) in new { fields.remove(name: name) }
        fields.add(contentsOf: new.map { ($0.name, $0.value) })
        return fields
    }

    /// The fields of the response to a first load, without the name of its visit.
    ///
    /// Tags are removed. Otherwise the browser would ask with them, and a stored page does not answer that question.
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

    /// The coding of the response, or nil if it is not supported.
    ///
    /// - Parameter page: The page that the request offered as a dictionary.
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

/// The coding of a transferred page.
enum PageCoding: Equatable, Sendable {
    case identity
    case compressed(CompressionFormat)
    /// Compressed against a page that both sides have.
    case against([UInt8])
}
