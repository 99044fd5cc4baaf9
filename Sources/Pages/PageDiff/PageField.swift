/// The header fields of the protocol.
package enum PageField {
    package static let acceptDiff = "accept-diff"
    package static let ifNoneMatch = "If-None-Match"
    package static let etag = "ETag"
    package static let templateTag = "template-tag"
    package static let templateChange = "template-change"
    package static let cacheOffline = "Cache-Offline"
    /// Names the field that holds the page's tag, where something on the way changes `ETag`.
    package static let etagName = "sonic-etag-key"
    /// `u1;u2`: what a client is to have before it shows the page.
    package static let links = "sonic-link"
    package static let pageTag = "html-sha1"
    package static let version = "sonic-sdk-version"
}

extension PageField {
    /// A token (RFC 9110 §5.6.2).
    package static func isName(_ text: String) -> Bool {
        let others = Set("!#$%&'*+-.^_`|~".utf8)
        return !text.isEmpty && text.utf8.allSatisfy { $0.isWord || others.contains($0) }
    }
}
