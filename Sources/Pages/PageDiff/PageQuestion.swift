package import PatchFormat

/// The tags of a page that a client with the protocol sends.
package struct PageQuestion: Equatable, Sendable {
    /// Nil if the client has no page.
    package let pageTag: SHA1Digest?
    package let templateTag: SHA1Digest?

    package init(pageTag: SHA1Digest?, templateTag: SHA1Digest?) {
        (self.pageTag, self.templateTag) = (pageTag, templateTag)
    }

    /// Reads the header fields of a request.
    ///
    /// Nil for a client without the protocol.
    ///
    /// Malformed tags are ignored.
    ///
    /// - Parameter field: Returns the value of a header field by its name, ignoring case.
    package init?(_ field: (String) -> String?) {
        guard field(PageField.acceptDiff)?.lowercased() == "true" else { return nil }
        self.init(
            pageTag: field(PageField.ifNoneMatch).flatMap { SHA1Digest(tag: $0) },
            templateTag: field(PageField.templateTag).flatMap { SHA1Digest(tag: $0) }
        )
    }

    /// The header fields of a request.
    ///
    /// A first request has no tags.
    package var fields: [(name: String, value: String)] {
        var fields = [(name: PageField.acceptDiff, value: "true"), (PageField.version, "Patchline/1")]
        if let pageTag { fields.append((PageField.ifNoneMatch, pageTag.hex)) }
        if let templateTag { fields.append((PageField.templateTag, templateTag.hex)) }
        return fields
    }
}
