import HTTPFiles
import NIOHTTP1
import PatchFormat

/// One file of a bundle as it answers one request: under which headers, and in which coding.
struct AssetAnswer {
    let table: AssetTable
    let types: ContentTypeRules
    /// Whether the URL may stand for these bytes in caches for a year (M19).
    let mayBeKept: Bool

    func answer(_ entry: AssetTable.Entry, to request: FileRequest) -> FileAnswer {
        switch entry {
        case .asset(let asset): file(of: asset, isImmutable: mayBeKept && asset.isImmutable(under: request), request)
        case .index(let asset): file(of: asset, isImmutable: false, request)
        case .damaged(let path):
            .refused(
                .serviceUnavailable,
                message: "\(path) is damaged on this device; the next sync heals it.",
                headers: ["Retry-After": "5"]
            )
        case .nothing: .notFound
        }
    }

    private func file(of asset: BundleIndex.Row, isImmutable: Bool, _ request: FileRequest) -> FileAnswer {
        var headers: HTTPHeaders = [:]
        if let map = table.sourceMap(of: asset) {
            headers.add(name: "SourceMap", value: map)
            headers.add(name: "X-SourceMap", value: map)
        }
        let forms = table.precompressed(asset)
        if !forms.isEmpty { headers.add(name: "Vary", value: "Accept-Encoding") }
        let accepted = forms.isEmpty ? [] : ContentCoding.accepted(in: request.headers)
        let coding = accepted.first { forms[$0] != nil }
        if let coding { headers.add(name: "Content-Encoding", value: coding.rawValue) }
        let sent = coding.flatMap { forms[$0] } ?? asset
        let location = table.location(of: sent)
        return .file(
            ServedFile(
                path: location.path,
                root: location.root,
                entityTag: sent.sha256.hex,
                contentType: types.type(of: asset.path),
                cacheControl: isImmutable ? "max-age=31536000, public" : "no-cache",
                headers: headers,
                size: sent.size
            )
        )
    }
}

extension AssetTable {
    /// The forms of a file that lie ready in the bundle beside it: `main.js.br`, `main.js.gz`.
    fileprivate func precompressed(_ asset: BundleIndex.Row) -> [ContentCoding: BundleIndex.Row] {
        var forms: [ContentCoding: BundleIndex.Row] = [:]
        for coding in ContentCoding.allCases {
            if case .asset(let row)? = self.asset(at: "/\(asset.path)\(coding.suffix)") { forms[coding] = row }
        }
        return forms
    }
}

extension BundleIndex.Row {
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
