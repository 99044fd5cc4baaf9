/// The header fields of the protocol.
package enum PageField {
    package static let acceptDiff = "accept-diff"
    package static let ifNoneMatch = "If-None-Match"
    package static let etag = "ETag"
    package static let templateTag = "template-tag"
    package static let templateChange = "template-change"
    package static let cacheOffline = "Cache-Offline"
    /// The field that names the page's tag if an intermediary changes `ETag`.
    package static let etagName = "sonic-etag-key"
    /// URLs that a client downloads before it shows the page: `u1;u2`.
    package static let links = "sonic-link"
    package static let pageTag = "html-sha1"
    package static let version = "sonic-sdk-version"
}

extension PageField {
    /// Whether the text is a token (RFC 9110 §5.6.2).
    package static func isName(_ text: String) -> Bool {
        let others = Set("!#$%&'*+-.^_`|~".utf8)
        return !text.isEmpty && text.utf8.allSatisfy { $0.isWord || others.contains($0) }
    }
}
