package import PatchFormat

extension SHA1Digest {
    /// A tag as it stands in a header field, weak or strong, quoted or not: `W/"78c4…"`, `78C4…`.
    package init?(tag: String) {
        var text = Substring(tag.lowercased())
        if text.hasPrefix("w/") { text = text.dropFirst(2) }
        if text.hasPrefix("\""), text.hasSuffix("\""), text.utf8.count > 1 { text = text.dropFirst().dropLast() }
        self.init(hex: String(text))
    }
}

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
