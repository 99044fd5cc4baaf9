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
    let cacheControl: String
    private let headers: HTTPHeaders
    /// Whether it is of the selection before, which no sync brings back.
    private let isPrevious: Bool
    /// 404 for the page of unknown paths.
    let status: HTTPResponseStatus
    /// The form of the file that the request wants most: beside the plain one, or the only one.
    private let coded: (coding: ContentCoding, row: BundleIndex.Row)?

    /// - Parameter mayBeKept: whether the URL may stand for these bytes in caches for a year, if it names them (M19).
    init(
        _ row: BundleIndex.Row,
        of table: AssetTable,
        to request: FileRequest,
        types: ContentTypeRules,
        fields: ReleaseFields,
        mayBeKept: Bool,
        isPrevious: Bool,
        release: ReleaseStamp?,
        status: HTTPResponseStatus = .ok
    ) {
        self.row = row
        self.table = table
        self.isPrevious = isPrevious
        self.status = status
        let forms = table.precompressed(row)
        let accepted = forms.isEmpty ? [] : ContentCoding.accepted(in: request.headers)
        coded = accepted.lazy.compactMap { coding in forms[coding].map { (coding, $0) } }.first
        contentType = types.type(of: row, isDecoded: coded != nil || row.coding == nil, fields)
        let isKept = mayBeKept && !row.isPage && ContentName.carriesContent(request.path.text)
        cacheControl = Self.cacheControl(fields.cacheControl, isKept: isKept, row)
        var headers: HTTPHeaders = [:]
        if let map = table.sourceMap(of: row) {
            headers.add(name: "SourceMap", value: map)
            headers.add(name: "X-SourceMap", value: map)
        }
        if let release { headers.add(name: ReleaseStamp.field, value: release.text) }
        if !forms.isEmpty { headers.add(name: "Vary", value: "Accept-Encoding") }
        self.headers = headers
    }

    /// A release may shorten what a browser keeps; it lengthens it only where the name carries the content, for else a page
    /// would run with files of another version.
    private static func cacheControl(_ wanted: String?, isKept: Bool, _ row: BundleIndex.Row) -> String {
        if let wanted, let rule = CacheRule(wanted), isKept || !rule.keeps { return wanted }
        return wanted == nil && isKept && row.cacheable ? "max-age=31536000, public" : "no-cache"
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
        var tag = table.entityTag(of: sent)
        if let coded, coded.row == sent {
            headers.add(name: "Content-Encoding", value: coded.coding.rawValue)
            // The same bytes without the coding are another representation.
            if sent == row { tag += "-\(coded.coding.rawValue)" }
        }
        let answer = FileAnswer.file(
            ServedFile(
                path: file.path,
                root: file.root,
                entityTag: tag,
                contentType: contentType,
                cacheControl: cacheControl,
                headers: headers,
                size: sent.size,
                identity: file.identity
            )
        )
        return status == .ok ? answer : answer.asPage(of: status)
    }
}

extension AssetTable {
    /// The compressed forms of a file: `main.js.br` and `main.js.gz` beside it, or itself.
    fileprivate func precompressed(_ row: BundleIndex.Row) -> [ContentCoding: BundleIndex.Row] {
        if let coding = row.coding.flatMap({ ContentCoding(rawValue: $0.rawValue) }) { return [coding: row] }
        var forms: [ContentCoding: BundleIndex.Row] = [:]
        for coding in ContentCoding.allCases { forms[coding] = asset(at: "/\(row.path)\(coding.suffix)") }
        return forms
    }
}

extension BundleIndex.Row {
    /// Whether it is a page whoever asks for it, and however.
    var isPage: Bool { [".html", ".htm", ".xhtml"].contains { path.lowercased().hasSuffix($0) } }
}

extension ContentTypeRules {
    /// The type that the device's owner set, else that of the release, else that of the name.
    ///
    /// - Parameter isDecoded: whether the client gets the content of a compressed file, and not the file itself.
    func type(of row: BundleIndex.Row, isDecoded: Bool, _ fields: ReleaseFields) -> String {
        guard isDecoded || row.coding == nil else { return type(of: row.path) }
        let name = row.coding == nil ? row.path : AssetCoding.innerName(of: row.path)
        return ownType(of: name) == nil ? fields.contentType ?? type(of: name) : type(of: name)
    }
}
