package import PatchFormat

/// The response that replaces a page if the client has its template.
///
/// ```
/// {"data":{"{title}":"<title>Cart</title>","{cart}":"<!--sonicdiff-cart-->…<!--sonicdiff-cart-end-->"},
///  "diff":"","html-sha1":"78c4…","template-tag":"a48c…"}
/// ```
package struct DataUpdate: Equatable, Sendable {
    private static let document = "data update"
    private static let nameRule = "must be a name between braces: letters, digits and underscores"

    package let data: PageData
    /// The tag of the page made from template and data, or nil if the server did not send it.
    package let pageTag: SHA1Digest?
    package let templateTag: SHA1Digest?

    package init(data: PageData, pageTag: SHA1Digest?, templateTag: SHA1Digest?) {
        (self.data, self.pageTag, self.templateTag) = (data, pageTag, templateTag)
    }

    package var bytes: [UInt8] {
        JSON.fields([
            ("data", .fields(data.members.map { ("{\($0.name)}", .text(String(decoding: $0.bytes, as: UTF8.self))) })),
            ("diff", .text("")), ("html-sha1", pageTag.map { .text($0.hex) }),
            ("template-tag", templateTag.map { .text($0.hex) }),
        ]).fileBytes
    }

    /// Reads a server's response and ignores unknown members.
    package init(_ bytes: [UInt8]) throws(FormatError) {
        let fields = try Fields(
            JSON.document(bytes, named: Self.document, limit: PageLimits.update),
            of: Self.document
        )
        let texts = try fields.members(of: "data", limit: PageLimits.blocks + 1)
        var members: [PageData.Member] = []
        for member in texts.object.members {
            let key = member.key.text
            guard let placeholder = Array(key.utf8).placeholders().first, placeholder.range.count == key.utf8.count
            else {
                throw texts.broken(key, Self.nameRule)
            }
            guard case .string(let text) = member.value else { throw texts.broken(key, "must be a string") }
            members.append(PageData.Member(name: placeholder.text, bytes: Array(text.text.utf8)))
        }
        data = PageData(members)
        pageTag = try fields.has("html-sha1") ? fields.digest("html-sha1") : nil
        templateTag = try fields.has("template-tag") ? fields.digest("template-tag") : nil
    }
}
