package import PatchFormat

extension SHA1Digest {
    /// Reads a tag of a header field, weak or strong, quoted or not: `W/"78c4…"`, `78C4…`.
    package init?(tag: String) {
        var text = Substring(tag.lowercased())
        if text.hasPrefix("w/") { text = text.dropFirst(2) }
        if text.hasPrefix("\""), text.hasSuffix("\""), text.utf8.count > 1 { text = text.dropFirst().dropLast() }
        self.init(hex: String(text))
    }
}
