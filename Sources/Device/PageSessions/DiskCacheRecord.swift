import NIOHTTP1
import PageDiff
import PatchFormat
import PatchCrypto

/// The metadata of a stored response.
///
/// ```json
/// { "format": "patchline-page-v1", "savedAt": "2026-11-20T08:00:00Z", "sha1": "78c4…", "isOfProtocol": true,
///   "fields": [["Content-Type", "text/html"]], "entityTag": "\"x\"", "lastModified": "…", "until": "…", "account": "9003…" }
/// ```
///
/// It does not contain the page's URL, and only a digest of its account.
struct DiskCacheRecord: Equatable, Sendable {
    static let format = "patchline-page-v1"
    private static let maxFields = 64

    var savedAt: UTCTime
    /// The digest of the content.
    ///
    /// Nil without content: the page's requests pass unchanged.
    var content: SHA1Digest?
    var usesProtocol = false
    var fields: HTTPHeaders = [:]
    var entityTag: String?
    var lastModified: String?
    /// The digest of the page's account, or nil if the rule has no accounts.
    var account: MD5Digest?
    /// The time of expiry, or nil if only the size limit removes it.
    var until: UTCTime?

    init(savedAt: UTCTime, content: SHA1Digest? = nil, until: UTCTime? = nil) {
        (self.savedAt, self.content, self.until) = (savedAt, content, until)
    }

    init(_ page: KeptPage) {
        self.init(savedAt: page.savedAt, content: page.page.pageTag)
        usesProtocol = page.usesProtocol
        fields = page.fields
        (entityTag, lastModified) = (page.entityTag, page.lastModified)
    }

    init(_ bytes: [UInt8], named document: String) throws(FormatError) {
        let all = try Fields(JSON.document(bytes, named: document, limit: PageLimits.record), of: document)
        try all.constant("format", Self.format)
        savedAt = try all.time("savedAt")
        content = all.has("sha1") ? try all.digest("sha1") : nil
        usesProtocol = try all.bool("isOfProtocol", default: false)
        entityTag = try all.optionalString("entityTag")
        lastModified = try all.optionalString("lastModified")
        until = all.has("until") ? try all.time("until") : nil
        account = all.has("account") ? try all.digest("account") : nil
        for value in all.has("fields") ? try all.array("fields", limit: Self.maxFields) : [] {
            guard case .array(let pair) = value, pair.count == 2, case .string(let name) = pair[0],
                case .string(let text) = pair[1], Self.isSafe(name.text), Self.isSafe(text.text)
            else { throw all.broken("fields", "must hold pairs of a name and a value, on one line each") }
            fields.add(name: name.text, value: text.text)
        }
    }

    /// Whether the written record could be read back.
    var isReadable: Bool { fields.count <= Self.maxFields && bytes.count <= PageLimits.record }

    static func name(of account: String) -> MD5Digest { Fingerprint(of: Array(account.utf8)).md5 }

    private static func isSafe(_ text: String) -> Bool {
        text.utf8.allSatisfy { ($0 >= 0x20 || $0 == 0x09) && $0 != 0x7F }
    }

    var bytes: [UInt8] {
        JSON.fields([
            ("format", .text(Self.format)), ("savedAt", .text(savedAt.description)),
            ("sha1", content.map { .text($0.hex) }), ("isOfProtocol", .bool(usesProtocol)),
            ("fields", .array(fields.map { .array([.text($0.name), .text($0.value)]) })),
            ("entityTag", entityTag.map { .text($0) }), ("lastModified", lastModified.map { .text($0) }),
            ("until", until.map { .text($0.description) }), ("account", account.map { .text($0.hex) }),
        ]).fileBytes
    }
}

extension KeptPage {
    init(_ record: DiskCacheRecord, _ page: SplitPage) {
        self.init(
            page,
            fields: record.fields,
            savedAt: record.savedAt,
            usesProtocol: record.usesProtocol,
            entityTag: record.entityTag,
            lastModified: record.lastModified
        )
    }
}
