package import PatchFormat

/// What came of a request for a page.
package enum PageOutcome: Sendable {
    /// There was none; this one is it.
    case firstLoad(SplitPage)
    case notModified
    /// The page as it is now, and what differs from the one that was shown.
    case dataUpdate(SplitPage, changes: PageData)
    case templateChange(SplitPage)
    /// Nothing of the protocol: it is shown, and none of it is kept.
    case plain
    /// What the server says does not fit together: what is kept goes, and the page is asked for as a browser does.
    case inconsistent(Inconsistency)
    /// 503: the same, but what is kept stays.
    case overloaded

    package enum Inconsistency: Equatable, Sendable {
        case notModifiedWithoutPage
        case dataWithoutTemplate
        /// The data is none, by the rule that it breaks.
        case data(FormatError)
        case templateTag
        case pageTag
        /// The page is longer than one may be.
        case length
    }

    /// The code that VasSonic's pages know it by; nil where its clients tell none.
    package var code: Int? {
        switch self {
        case .firstLoad: 1_000
        case .templateChange: 2_000
        case .dataUpdate: 200
        case .notModified: 304
        case .plain, .inconsistent, .overloaded: nil
        }
    }

    /// - Parameters:
    ///   - kept: the page that this client has, which it sent the tags of.
    ///   - takesUntagged: whether pages of servers that know nothing of the protocol are split here, and by the same rules.
    package init(of reply: PageReply, body: [UInt8], kept: SplitPage?, takesUntagged: Bool) {
        switch reply.status {
        case 304: self = kept == nil ? .inconsistent(.notModifiedWithoutPage) : .notModified
        case 503: self = .overloaded
        case 200 where reply.isOfProtocol && reply.templateChanged == false:
            self.init(data: body, by: reply, kept: kept)
        case 200 where reply.isOfProtocol:
            let page = SplitPage(body)
            guard page.pageTag == reply.pageTag else {
                self = .inconsistent(.pageTag)
                return
            }
            self.init(page, kept: kept, isTemplate: false)
        case 200 where takesUntagged && body.count <= PageLimits.page:
            self.init(SplitPage(body), kept: kept, isTemplate: true)
        default: self = .plain
        }
    }

    /// - Parameter isTemplate: whether the template is looked at here, as the server did not say that it changed.
    private init(_ page: SplitPage, kept: SplitPage?, isTemplate: Bool) {
        guard let kept else {
            self = .firstLoad(page)
            return
        }
        if kept.pageTag == page.pageTag {
            self = .notModified
        } else if isTemplate, kept.templateTag == page.templateTag, let old = kept.data, let new = page.data {
            self = .dataUpdate(page, changes: new.changes(since: old))
        } else {
            self = .templateChange(page)
        }
    }

    private init(data body: [UInt8], by reply: PageReply, kept: SplitPage?) {
        guard let kept else {
            self = .inconsistent(.dataWithoutTemplate)
            return
        }
        let update: DataUpdate
        do throws(FormatError) { update = try DataUpdate(body) } catch {
            self = .inconsistent(.data(error))
            return
        }
        guard reply.templateTag == kept.templateTag, update.templateTag ?? kept.templateTag == kept.templateTag else {
            self = .inconsistent(.templateTag)
            return
        }
        guard let bytes = update.data.page(of: kept.template) else {
            self = .inconsistent(.length)
            return
        }
        let page = SplitPage(bytes)
        guard page.pageTag == (update.pageTag ?? reply.pageTag), page.pageTag == reply.pageTag else {
            self = .inconsistent(.pageTag)
            return
        }
        self = .dataUpdate(
            page,
            changes: page.data.flatMap { new in kept.data.map { new.changes(since: $0) } } ?? update.data
        )
    }
}
