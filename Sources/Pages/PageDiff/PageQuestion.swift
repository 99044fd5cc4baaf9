package import PatchFormat

/// What a client that speaks the protocol says of the page that it has.
package struct PageQuestion: Equatable, Sendable {
    /// Nil where it has none.
    package let pageTag: SHA1Digest?
    package let templateTag: SHA1Digest?

    package init(pageTag: SHA1Digest?, templateTag: SHA1Digest?) {
        (self.pageTag, self.templateTag) = (pageTag, templateTag)
    }

    /// Nil for a client that does not speak it.
    ///
    /// A tag that is none is as if it were not there.
    ///
    /// - Parameter field: the value of a header field by its name, in letters of either case.
    package init?(_ field: (String) -> String?) {
        guard field(PageField.acceptDiff)?.lowercased() == "true" else { return nil }
        self.init(
            pageTag: field(PageField.ifNoneMatch).flatMap { SHA1Digest(tag: $0) },
            templateTag: field(PageField.templateTag).flatMap { SHA1Digest(tag: $0) }
        )
    }

    /// The header fields of a request; a first one has no tags.
    package var fields: [(name: String, value: String)] {
        var fields = [(name: PageField.acceptDiff, value: "true"), (PageField.version, "Patchline/1")]
        if let pageTag { fields.append((PageField.ifNoneMatch, pageTag.hex)) }
        if let templateTag { fields.append((PageField.templateTag, templateTag.hex)) }
        return fields
    }
}
