import HTTPFiles
import PatchFormat
import PatchCrypto

/// `/__patchline/language.js`: what script patches find in a page, and what a page exposes to them.
///
/// It comes before everything else of the page, takes what it needs of the browser before a page can replace it, and keeps its own
/// references. Its bytes are the same in every page and every launch; what differs stands in the tags.
enum PageLanguage {
    static let url = "/\(PageAPI.prefix)/language.js"
    static let bytes = Array(PageLanguage.text.utf8)
    static let sha256 = SHA256Digest(of: bytes)
    /// For a URL that names its content.
    static let forAYear = "max-age=31536000, public, immutable"

    /// - Parameter sha256: what the URL names; nil where it names nothing.
    static func answer(named sha256: String?) -> FileAnswer {
        guard sha256 == nil || sha256 == self.sha256.hex else { return .notFound }
        return .bytes(
            ServedBytes(
                bytes: bytes,
                entityTag: self.sha256.hex,
                contentType: "text/javascript; charset=utf-8",
                cacheControl: sha256 == nil ? "no-cache" : forAYear
            )
        )
    }
}
