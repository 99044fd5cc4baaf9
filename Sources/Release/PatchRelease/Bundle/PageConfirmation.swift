import PatchFormat

/// Whether the pages and scripts of a bundle can confirm its version with `patchline.confirm()`.
///
/// Devices roll back an update that its page does not confirm. The parts of the call may be in different files, as in a module that
/// returns `window.patchline`, so that each file is searched for each part.
struct PageConfirmation: Equatable, Sendable {
    private let isFound: Bool
    /// Whether a page or script is stored in compressed form only, so that its text is unknown.
    private let hasUnreadFile: Bool
    private let documents: Set<AssetPath>

    init(in files: [(path: AssetPath, findings: ContentSearch.Findings)]) {
        let parts = files.reduce(into: ContentSearch.Confirmation()) { $0.formUnion($1.findings.confirmation) }
        isFound = parts == .whole
        let paths = Set(files.map(\.path.text))
        hasUnreadFile = files.contains { Self.isUnread($0.path.text, head: $0.findings.head, beside: paths) }
        documents = Set(files.filter { Self.isDocument($0.findings.head) }.map(\.path))
    }

    /// Whether no file of the bundle calls `patchline.confirm()`.
    ///
    /// A fragment of HTML is a placeholder or a test page, and is not judged.
    ///
    /// - Parameter index: The page that opens.
    func isMissing(fromAppOf index: AssetPath) -> Bool { !isFound && !hasUnreadFile && documents.contains(index) }

    static func isDocument(_ head: [UInt8]) -> Bool {
        // A byte order mark, the zeros of UTF-16, and spaces.
        let text = head.filter { $0 != 0 }.drop { $0 <= 0x20 || $0 >= 0x80 }.prefix(9)
        let start = String(decoding: text, as: UTF8.self).lowercased()
        return start == "<!doctype" || start.hasPrefix("<html")
    }

    private static let pagesAndScripts = [".html", ".htm", ".js", ".mjs", ".cjs"]
    private static let compressed = [".gz", ".br", ".zst"]

    private static func isUnread(_ path: String, head: [UInt8], beside paths: Set<String>) -> Bool {
        let name = path.lowercased()
        if pagesAndScripts.contains(where: name.hasSuffix) {
            return head.starts(with: [0x1F, 0x8B]) || head.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
        }
        guard let ending = compressed.first(where: name.hasSuffix) else { return false }
        let plain = path.dropLast(ending.count)
        return pagesAndScripts.contains { plain.lowercased().hasSuffix($0) } && !paths.contains(String(plain))
    }
}
