import PatchFormat
import PatchTrust

/// The tags that put scripts into a page: the language first, then each script of the page, in the order of the list.
///
/// All are files of the page's own origin, so that they run under a policy that allows no others, and each names the SHA-256 of
/// its bytes: a browser runs no others. Their URLs name their content too. Nothing in them needs an escape: ids, versions and
/// tokens have no character that HTML knows.
struct PageTags: Equatable, Sendable {
    let text: String

    /// - Parameter launch: the trial that the page may speak for.
    init(_ scripts: [ServedScripts.Script], launch: String?) {
        let speaksFor = launch.map { " data-launch=\"\($0)\"" } ?? ""
        let language = Self.tag(PageLanguage.url, PageLanguage.sha256, speaksFor)
        let patches = scripts.map { script in
            Self.tag(script.url, script.sha256, " data-patch=\"\(script.patchID)\" data-version=\"\(script.version)\"")
        }
        text = ([language] + patches).joined()
    }

    private static func tag(_ url: String, _ sha256: SHA256Digest, _ more: String) -> String {
        "<script src=\"\(url)?\(parameter)=\(sha256.hex)\" integrity=\"sha256-\(Base64.text(sha256.bytes))\"\(more)></script>"
    }

    /// In the query of a script's URL, the SHA-256 of its bytes.
    static let parameter = "sha256"
}
