package import HTTPFiles
import NIOHTTP1
import NIOPosix
import PatchFormat

/// A file as it answers one request: it is read before it is served, where it is not the one that was verified.
package protocol ExaminedFile: Sendable {
    /// What is known without reading the file; nil when another one lies there, or none.
    var recorded: FileAnswer? { get }

    /// The same after the file was read, or that it is damaged.
    func examined() async -> FileAnswer
}

/// One file of a bundle as it answers one request: under which headers, and in which coding.
struct AssetAnswer: ExaminedFile {
    private let row: BundleIndex.Row
    private let table: AssetTable
    private let contentType: String
    private let cacheControl: String
    private let headers: HTTPHeaders
    /// Whether it is of the selection before, which no sync brings back.
    private let isPrevious: Bool
    /// The form of the file that the request wants most.
    private let coded: (coding: ContentCoding, row: BundleIndex.Row)?

    /// - Parameter mayBeKept: whether the URL may stand for these bytes in caches for a year, if it names them (M19).
    init(
        _ row: BundleIndex.Row,
        of table: AssetTable,
        to request: FileRequest,
        types: ContentTypeRules,
        mayBeKept: Bool,
        isPrevious: Bool,
        release: ReleaseStamp?
    ) {
        self.row = row
        self.table = table
        self.isPrevious = isPrevious
        contentType = types.type(of: row.path)
        cacheControl = mayBeKept && row.isImmutable(under: request) ? "max-age=31536000, public" : "no-cache"
        let forms = table.precompressed(row)
        let accepted = forms.isEmpty ? [] : ContentCoding.accepted(in: request.headers)
        coded = accepted.lazy.compactMap { coding in forms[coding].map { (coding, $0) } }.first
        var headers: HTTPHeaders = [:]
        if let map = table.sourceMap(of: row) {
            headers.add(name: "SourceMap", value: map)
            headers.add(name: "X-SourceMap", value: map)
        }
        if let release { headers.add(name: ReleaseStamp.field, value: release.text) }
        if !forms.isEmpty { headers.add(name: "Vary", value: "Accept-Encoding") }
        self.headers = headers
    }

    /// As it lies, or after it was read.
    func answered() async -> FileAnswer {
        if let recorded { return recorded }
        return await examined()
    }

    var recorded: FileAnswer? {
        let sent = coded?.row ?? row
        return table.files.recorded(sent).map { answer(sent, $0) }
    }

    func examined() async -> FileAnswer {
        for sent in [coded?.row, row].compactMap(\.self) {
            if let file = table.files.recorded(sent) { return answer(sent, file) }
            // A disk may stall; the threads that run Swift's tasks must not.
            let file = try? await NIOThreadPool.singleton.runIfActive { [table] in table.files.examined(sent) }
            if let file = file ?? nil { return answer(sent, file) }
        }
        return isPrevious ? .gone(row.path) : .damaged(row.path)
    }

    private func answer(_ sent: BundleIndex.Row, _ file: AssetFile) -> FileAnswer {
        var headers = headers
        if let coded, sent != row { headers.add(name: "Content-Encoding", value: coded.coding.rawValue) }
        return .file(
            ServedFile(
                path: file.path,
                root: file.root,
                entityTag: table.entityTag(of: sent),
                contentType: contentType,
                cacheControl: cacheControl,
                headers: headers,
                size: sent.size,
                identity: file.identity
            )
        )
    }
}

extension AssetTable {
    /// The forms of a file that lie ready in the bundle beside it: `main.js.br`, `main.js.gz`.
    fileprivate func precompressed(_ row: BundleIndex.Row) -> [ContentCoding: BundleIndex.Row] {
        var forms: [ContentCoding: BundleIndex.Row] = [:]
        for coding in ContentCoding.allCases { forms[coding] = asset(at: "/\(row.path)\(coding.suffix)") }
        return forms
    }
}

extension BundleIndex.Row {
    /// Whether it is a page whoever asks for it, and however.
    var isPage: Bool { [".html", ".htm", ".xhtml"].contains { path.lowercased().hasSuffix($0) } }

    /// A year's caching is for URLs that name their content: by a query, or by 40 hex digits in the path (M19).
    fileprivate func isImmutable(under request: FileRequest) -> Bool {
        guard cacheable else { return false }
        if request.query?.isEmpty == false { return true }
        var run = 0
        for byte in request.path.text.utf8 {
            run = (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) ? run + 1 : 0
            if run == 40 { return true }
        }
        return false
    }
}
