import HTTPCore
import HTTPFiles
import NIOHTTP1
import NIOPosix
import PatchFormat
import PatchCrypto

/// An HTML file of the bundle as the response to one request: with the release stamp, and with the scripts of its page.
///
/// Its entity tag covers the file, the inserted tags and their place. The device makes it from the plain file, even if a compressed
/// form exists, and keeps it in memory while it is sent.
package struct PatchedPage: Sendable {
    /// The answer to the request.
    enum Made: Sendable {
        case stamped(FileAnswer)
        /// The file as it is in the bundle.
        case plain(FileAnswer)

        var isStamped: Bool { if case .stamped = self { true } else { false } }

        var answer: FileAnswer {
            switch self {
            case .stamped(let answer), .plain(let answer): answer
            }
        }
    }

    private let row: BundleIndex.Row
    private let table: AssetTable
    private let selection: ServedSelection
    /// The scripts of the page under this path, regardless of the request's purpose.
    private let scripts: [ServedScripts.Script]
    private let contentType: String
    /// The file as it is in the bundle.
    private let plain: AssetAnswer
    /// The requested path, for reports of pages served without their scripts.
    private let path: String
    /// Whether the response may be shown as a page, which receives scripts.
    private let showsPage: Bool
    /// Whether a browser navigates to it.
    ///
    /// A fragment is then stamped too.
    private let isNavigation: Bool

    init(
        _ row: BundleIndex.Row,
        of table: AssetTable,
        _ selection: ServedSelection,
        to request: FileRequest,
        from page: PageRequest,
        contentType: String,
        plain: AssetAnswer
    ) {
        (self.row, self.table, self.selection) = (row, table, selection)
        scripts = selection.scripts.put(inPageAt: request.path.segments)
        (self.contentType, self.plain) = (contentType, plain)
        path = request.path.text
        showsPage = page.showsPage(request)
        isNavigation = page.isPage
    }

    func made() async -> Made {
        // Disk reads may block, so they must not run on the threads of Swift's tasks.
        let page = try? await NIOThreadPool.singleton.runIfActive { [self] in self.stamped() }
        if let page = page ?? nil { return .stamped(.bytes(page)) }
        return .plain(await plain.answered())
    }

    /// Returns the changed page, or nil if the page is served unchanged.
    private func stamped() -> ServedBytes? {
        var put = showsPage ? scripts : []
        let files = selection.scripts.files
        guard row.size <= PagePlan.pageLimit else {
            if !put.isEmpty { files.leftOut(of: path, .tooLarge) }
            return nil
        }
        // A missing or altered file is answered and reported like every other file.
        guard let page = table.files.contents(row) else { return nil }
        let isComplete = PagePlan.isCompleteDocument(page)
        guard isComplete || isNavigation || !put.isEmpty else { return nil }
        if !put.allSatisfy({ files.recorded($0) != nil || files.examined($0) != nil }) {
            files.leftOut(of: path, .damagedScript)
            put = []
        }
        switch PagePlan(page, contentType: contentType) {
        case .untouched(let reason):
            if !put.isEmpty { files.leftOut(of: path, reason) }
            return nil
        case .put(let place, let contentType):
            let tags = PageTags(stamp: selection.stamp, version: selection.version, scripts: put)
            let text = Array(tags.text.utf8)
            var headers: HTTPHeaders = [:]
            if let stamp = selection.stamp { headers.add(name: ReleaseStamp.field, value: stamp.text) }
            // The same URL has another form for requests that do not show a page.
            if !scripts.isEmpty || !isComplete { headers.add(name: "Vary", value: "Sec-Fetch-Dest") }
            return ServedBytes(
                status: plain.status,
                bytes: page[..<place] + text + page[place...],
                entityTag: plain.status == .ok ? Self.tag(of: row, text, at: place) : nil,
                contentType: contentType,
                // A release may set this for a page, for example to no-store.
                cacheControl: plain.cacheControl,
                headers: headers
            )
        }
    }

    private static func tag(of row: BundleIndex.Row, _ tags: [UInt8], at place: Int) -> String {
        SHA256Digest(of: Array("patchline-page-v1\n\(row.sha256.hex)\n\(place)\n".utf8) + tags).hex
    }
}

extension PageRequest {
    /// Whether the response may be shown as a page.
    ///
    /// A file that a script fetches is not shown, whether as a fragment or as a copy to store.
    ///
    /// A program that does not send a destination receives the page as a browser would.
    func showsPage(_ request: FileRequest) -> Bool {
        isPage || !request.headers.contains(name: "Sec-Fetch-Dest") && purpose != .serviceWorker
    }
}
