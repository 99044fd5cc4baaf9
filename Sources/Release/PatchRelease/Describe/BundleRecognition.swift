package import PatchFormat
import PatchStore
import SystemPackage

/// Decides by a bundle's files whether it is a site or an app.
package struct BundleRecognition: Equatable, Sendable {
    package let routing: BundleRouting
    /// `docs/index.html is a page of its own`.
    package let reason: String
    let index: AssetPath

    /// The recognised routing and the setting that overrides it.
    package var words: String {
        switch routing {
        case .site:
            "is a site (\(reason)): an unknown page is answered with 404; "
                + "if it is a single-page app, set `routing: app` in \(ReleaseDescription.fileName)"
        case .app:
            "is an app (\(reason)): an unknown page is answered with \(index); "
                + "if each page has its own file, set `routing: site` in \(ReleaseDescription.fileName)"
        }
    }

    /// Pages that single-page apps have besides their index: for a worker without a network, a login or an old browser.
    private static let helpers = [
        "offline", "50x", "500", "502", "503", "error", "silent", "callback", "redirect", "iframe", "popup", "frame",
        "unsupported", "oauth", "google", "fallback",
    ]

    init(of contents: BundleContents, _ bundle: DescribedBundle, disk: any FileOperations) throws(SigningError) {
        let pages = contents.files.filter { Self.isPage($0.path) }
        let index = pages.first { $0.path == bundle.index }
        func named(_ name: String) -> (path: AssetPath, file: FilePath, fingerprint: Fingerprint)? {
            pages.first { $0.path.text == name && $0.path != bundle.index }
        }
        self.index = bundle.index
        if let fallback = named("200.html") {
            (routing, reason) = (.app, "\(fallback.path) is its page for all paths")
            return
        }
        if let missing = named("404.html"), missing.fingerprint.sha256 != index?.fingerprint.sha256 {
            (routing, reason) = (.site, "\(missing.path) is its page for unknown paths")
            return
        }
        let others = pages.filter { $0.path != bundle.index && $0.path.text != "404.html" && !Self.isHelper($0.path) }
        // Index pages of folders first: they are the clearest sign, and the best example for the message.
        for page in others.filter({ Self.isFolderIndex($0.path) }) + others.filter({ !Self.isFolderIndex($0.path) }) {
            guard try disk.holdsDocument(page.file) else { continue }
            (routing, reason) = (.site, "\(page.path) is a page of its own")
            return
        }
        (routing, reason) = (.app, "\(bundle.index) is its only page")
    }

    private static func isPage(_ path: AssetPath) -> Bool {
        let name = path.text.lowercased()
        return name.hasSuffix(".html") || name.hasSuffix(".htm")
    }

    private static func isFolderIndex(_ path: AssetPath) -> Bool {
        path.segments.count > 1 && ["index.html", "index.htm"].contains(path.segments.last ?? "")
    }

    private static func isHelper(_ path: AssetPath) -> Bool {
        let words = (path.segments.last ?? "").lowercased().split { !$0.isLetter && !$0.isNumber }
        return words.dropLast().contains { word in helpers.contains { word.hasPrefix($0) } }
    }
}

extension FileOperations {
    /// Whether an HTML file is a complete document, not a fragment that a script inserts.
    fileprivate func holdsDocument(_ file: FilePath) throws(SigningError) -> Bool {
        let head = try onDisk { () throws(FileError) in try open(file, limit: Limits.object).next() } ?? []
        let text = String(decoding: head.prefix(4_096), as: UTF8.self).lowercased()
        return text.contains("<!doctype") || text.contains("<html")
    }

    /// Returns the coding of a compressed file without a plain one next to it; nil if it is not compressed, or is an archive for
    /// download.
    ///
    /// `main.js.gz` is a script. The app itself may decompress `table.json.gz`, and `sources.tar.gz` is an archive: only
    /// `headers` can mark those as compressed content.
    func coding(of path: AssetPath, at file: FilePath, beside paths: Set<AssetPath>) throws(SigningError)
        -> AssetCoding?
    {
        let inner = AssetCoding.innerName(of: path.text)
        guard inner != path.text, (try? AssetPath(inner)).map({ !paths.contains($0) }) ?? false else { return nil }
        let ending = inner.lowercased().split(separator: ".").last.map(String.init) ?? ""
        let isWeb =
            ["js", "mjs", "cjs", "css", "html", "htm", "svg", "wasm", "data"].contains(ending)
            || inner.hasSuffix(".symbols.json")
        let isAlwaysContent = path.text.hasSuffix(".br") || path.text.hasSuffix(".unityweb")
        guard isWeb || isAlwaysContent else { return nil }
        let head = try onDisk { () throws(FileError) in try open(file, limit: Limits.object).next() } ?? []
        if head.starts(with: [0x1F, 0x8B]) { return .gzip }
        if head.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) { return .zstandard }
        if path.text.hasSuffix(".br") { return .brotli }
        // Unity marks its files in a comment; gzip has its own magic bytes.
        let mark = String(decoding: head.prefix(128), as: UTF8.self)
        return path.text.hasSuffix(".unityweb") && mark.contains("UnityWeb Compressed Content (brotli)") ? .brotli : nil
    }

    /// Whether a script or style sheet names its source map in a comment.
    ///
    /// Firefox warns if a header names it too.
    func namesSourceMap(_ file: FilePath) throws(SigningError) -> Bool {
        let bytes = try onDisk { () throws(FileError) in try read(file, limit: Limits.object) }
        let marks = [
            "//# sourceMappingURL=", "//@ sourceMappingURL=", "/*# sourceMappingURL=", "/*@ sourceMappingURL=",
        ]
        .map { Array($0.utf8) }
        let lines = bytes.split(maxSplits: .max, omittingEmptySubsequences: true) { $0 == 0x0A || $0 == 0x0D }
        // Other comments may follow it. A minified file is a single line with the comment at its end.
        return lines.suffix(5).contains { line in
            let start = line.drop { $0 == 0x20 || $0 == 0x09 }
            return marks.contains { start.starts(with: $0) || line.suffix(2_048).contains(sequence: $0) }
        }
    }
}

extension Collection<UInt8> {
    fileprivate func contains(sequence: [UInt8]) -> Bool {
        var rest = self[...]
        while let start = rest.firstIndex(of: sequence[0]) {
            rest = rest[start...]
            if rest.starts(with: sequence) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
