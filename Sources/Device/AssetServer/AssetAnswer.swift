import HTTPCore
package import HTTPFiles
import NIOHTTP1
import NIOPosix
import PatchFormat

/// A file as the response to one request.
///
/// If it has changed since it was verified, it is read before it is served.
package protocol ExaminedFile: Sendable {
    /// The response without reading the file, or nil if the file was replaced or is missing.
    var recorded: FileAnswer? { get }

    /// Reads the file, and returns the response, or an error response if the file is damaged.
    func examined() async -> FileAnswer
}

/// One file of a bundle as the response to one request: with its header fields and its coding.
struct AssetAnswer: ExaminedFile {
    private let row: BundleIndex.Row
    private let table: AssetTable
    private let contentType: String
    let cacheControl: String
    private let headers: HTTPHeaders
    /// Whether the file belongs to the previous selection, which no sync heals.
    private let isPrevious: Bool
    /// The status: 404 for the page of unknown paths.
    let status: HTTPResponseStatus
    /// The form of the file that the request prefers: a compressed one next to the plain file, or the only one.
    private let coded: (coding: ContentCoding, row: BundleIndex.Row)?

    /// - Parameter mayBeKept: Whether caches may store these bytes under the URL for a year, if its name contains their digest
    ///   (M19).
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

    /// A release may shorten the cache lifetime.
    ///
    /// It may extend it only if the name contains the digest, because a page could otherwise run with files of another version.
    private static func cacheControl(_ wanted: String?, isKept: Bool, _ row: BundleIndex.Row) -> String {
        if let wanted, let rule = CacheRule(wanted), isKept || !rule.keeps { return wanted }
        return wanted == nil && isKept && row.cacheable ? "max-age=31536000, public" : "no-cache"
    }

    /// Returns the response, and reads the file first if it has changed.
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
            // Disk reads may block, so they must not run on the threads of Swift's tasks.
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
    /// The compressed forms of a file: `main.js.br` and `main.js.gz` next to it, or the file itself.
    fileprivate func precompressed(_ row: BundleIndex.Row) -> [ContentCoding: BundleIndex.Row] {
        if let coding = row.coding.flatMap({ ContentCoding(rawValue: $0.rawValue) }) { return [coding: row] }
        var forms: [ContentCoding: BundleIndex.Row] = [:]
        for coding in ContentCoding.allCases { forms[coding] = asset(at: "/\(row.path)\(coding.suffix)") }
        return forms
    }
}

extension BundleIndex.Row {
    /// Whether the file is a page for every kind of request.
    var isPage: Bool { [".html", ".htm", ".xhtml"].contains { path.lowercased().hasSuffix($0) } }
}

extension ContentTypeRules {
    /// Returns the type set by the device's owner, else by the release, else by the file's name.
    ///
    /// - Parameter isDecoded: Whether the client receives the content of a compressed file instead of the file itself.
    func type(of row: BundleIndex.Row, isDecoded: Bool, _ fields: ReleaseFields) -> String {
        guard isDecoded || row.coding == nil else { return type(of: row.path) }
        let name = row.coding == nil ? row.path : AssetCoding.innerName(of: row.path)
        return ownType(of: name) == nil ? fields.contentType ?? type(of: name) : type(of: name)
    }
}
