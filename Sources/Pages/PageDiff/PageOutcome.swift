package import PatchFormat

/// The outcome of a request for a page.
package enum PageOutcome: Sendable {
    /// The client had no page, and received this one.
    case firstLoad(SplitPage)
    case notModified
    /// The present page, and its differences from the one that was shown.
    case dataUpdate(SplitPage, changes: PageData)
    case templateChange(SplitPage)
    /// The response does not use the protocol. It is shown and not stored.
    case plain
    /// The response is contradictory. The stored page is dropped, and the page is requested as a browser does.
    case inconsistent(Inconsistency)
    /// The status is 503. The page is requested as a browser does, and the stored page is kept.
    case overloaded

    package enum Inconsistency: Equatable, Sendable {
        case notModifiedWithoutPage
        case dataWithoutTemplate
        /// The data is malformed.
        case data(FormatError)
        case templateTag
        case pageTag
        /// The page exceeds the size limit.
        case length
    }

    /// VasSonic's code of the outcome, or nil if its clients report none.
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
    ///   - kept: The client's page whose tags were sent.
    ///   - takesUntagged: Whether pages of servers without the protocol are split here by the same rules.
    package init(of reply: PageReply, body: [UInt8], kept: SplitPage?, takesUntagged: Bool) {
        switch reply.status {
        case 304: self = kept == nil ? .inconsistent(.notModifiedWithoutPage) : .notModified
        case 503: self = .overloaded
        case 200 where reply.usesProtocol && reply.templateChanged == false:
            self.init(data: body, by: reply, kept: kept)
        case 200 where reply.usesProtocol:
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

    /// - Parameter isTemplate: Whether templates are compared here, because the server did not report a change.
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
