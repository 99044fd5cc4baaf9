import PageDiff
import PatchFormat

/// The outcome of a visit as reported to the page, with the codes of VasSonic's clients.
struct PageResult: Sendable {
    static let firstLoad = 1_000
    static let templateChange = 2_000
    static let dataUpdate = 200
    static let notModified = 304

    let code: Int
    /// The code without the server's request to keep showing the old page.
    let answered: Int
    /// The changed blocks.
    var changes: PageData?
    /// The names of all blocks of the shown page in their order, or nil if the present page has different ones.
    var blocks: [String]?
    /// Whether the page must be reloaded to show its present state.
    var isReload = false
    /// The tags of the present page.
    var tags: (template: SHA1Digest, page: SHA1Digest)?
    var offline: CacheOffline?

    init(code: Int, answered: Int, isReload: Bool) {
        (self.code, self.answered, self.isReload) = (code, answered, isReload)
    }

    init(_ outcome: PageOutcome, _ reply: PageReply, page: SplitPage?, shown: SplitPage?, offline: CacheOffline) {
        let isShown = shown != nil
        tags = page.map { ($0.templateTag, $0.pageTag) }
        switch outcome {
        case .firstLoad, .notModified: (code, answered) = (outcome.code ?? 0, outcome.code ?? 0)
        case .dataUpdate(let new, let changes):
            answered = Self.dataUpdate
            guard offline != .keepForLater else {
                code = Self.notModified
                break
            }
            code = Self.dataUpdate
            self.changes = changes
            let names = new.marks.blocks.map(\.name)
            if names == shown?.marks.blocks.map(\.name) { blocks = names }
        case .templateChange:
            answered = Self.templateChange
            code = offline == .keepForLater ? Self.notModified : Self.templateChange
            isReload = code == Self.templateChange
        case .plain where reply.status >= 500: (code, answered) = (reply.status, reply.status)
        case .plain, .inconsistent:
            (code, answered) = (isShown ? Self.templateChange : Self.firstLoad, reply.status)
            isReload = isShown
        case .overloaded:
            (code, answered) = (reply.status, reply.status)
            isReload = isShown
        }
        if page != nil { self.offline = offline }
    }

    /// - Parameter savedAt: When the shown page was received from its server.
    func json(savedAt: UTCTime) -> JSON {
        .fields([
            ("code", .integer(code)), ("srcCode", .integer(answered)),
            (
                "result",
                .fields(
                    (changes?.members ?? []).map {
                        ("{\($0.name)}", .text(String(decoding: $0.bytes, as: UTF8.self)))
                    }
                )
            ), ("local_refresh_time", .integer(savedAt.seconds * 1_000)),
            (
                "extra",
                .fields([
                    ("template-tag", tags.map { .text($0.template.hex) }),
                    ("eTag", tags.map { .text($0.page.hex) }), ("isReload", .bool(isReload)),
                    ("cache-offline", offline.map { .text($0.rawValue) }),
                    ("blocks", blocks.map { .array($0.map(JSON.text)) }),
                ])
            ),
        ])
    }
}
