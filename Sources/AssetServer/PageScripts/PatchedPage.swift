import HTTPFiles
import NIOHTTP1
import NIOPosix
import PatchFormat
import PatchTrust

/// A page of the bundle as it answers one request, with scripts in front of its own.
///
/// It is a representation of its own, with a tag of its own: that of the page, of what was put in and where. It comes from the
/// plain file, also where a compressed form lies beside that, and is held in memory while it is sent.
struct PatchedPage: ExaminedFile {
    let row: BundleIndex.Row
    let table: AssetTable
    let scripts: [ServedScripts.Script]
    let files: any ScriptFiles
    let launch: String?
    let contentType: String
    /// The page as it is without scripts.
    let plain: AssetAnswer
    /// As the request names it, for whoever is told that it stays as it is.
    let path: String

    /// Nil where no script is for the page under this path.
    init?(
        _ row: BundleIndex.Row,
        of table: AssetTable,
        _ selection: ServedSelection,
        to request: FileRequest,
        contentType: String,
        plain: AssetAnswer
    ) {
        scripts = selection.scripts.put(inPageAt: request.path.segments)
        guard !scripts.isEmpty else { return nil }
        self.row = row
        self.table = table
        files = selection.scripts.files
        launch = selection.launch
        self.contentType = contentType
        self.plain = plain
        path = request.path.text
    }

    var recorded: FileAnswer? { nil }

    func examined() async -> FileAnswer {
        // A disk may stall; the threads that run Swift's tasks must not.
        let page = try? await NIOThreadPool.singleton.runIfActive { [self] in self.made() }
        if let page = page ?? nil { return .bytes(page) }
        return await plain.answered()
    }

    /// Nil where the page comes as it is.
    private func made() -> ServedBytes? {
        guard scripts.allSatisfy({ files.recorded($0) != nil || files.examined($0) != nil }) else {
            files.leftOut(of: path, .damagedScript)
            return nil
        }
        guard row.size <= PagePlan.pageLimit else {
            files.leftOut(of: path, .tooLarge)
            return nil
        }
        // What is missing or altered is answered, and told, as every file is.
        guard let page = table.files.contents(row) else { return nil }
        switch PagePlan(page, contentType: contentType) {
        case .untouched(let reason):
            files.leftOut(of: path, reason)
            return nil
        case .put(let place, let contentType):
            let tags = Array(PageTags(scripts, launch: launch).text.utf8)
            return ServedBytes(
                bytes: page[..<place] + tags + page[place...],
                entityTag: Self.tag(of: row, tags, at: place),
                contentType: contentType,
                headers: ["Vary": "Sec-Fetch-Dest"]
            )
        }
    }

    private static func tag(of row: BundleIndex.Row, _ tags: [UInt8], at place: Int) -> String {
        SHA256Digest(of: Array("patchline-page-v1\n\(row.sha256.hex)\n\(place)\n".utf8) + tags).hex
    }
}

extension PageRequest {
    /// Whether its answer may be shown as a page: what a script fetches for itself, a fragment or a copy to keep, is not one.
    ///
    /// A program that does not say what it asks for gets the page as a browser would.
    func showsPage(_ request: FileRequest) -> Bool {
        isPage || !request.headers.contains(name: "Sec-Fetch-Dest") && purpose != .serviceWorker
    }
}
