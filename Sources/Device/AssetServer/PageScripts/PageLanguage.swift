import HTTPFiles
import PatchFormat
import PatchCrypto

/// `/__patchline/language.js`: the functions that script patches use in a page, and that a page uses to expose objects to them.
///
/// It runs before all other code of the page, stores references to the browser's functions before a page can replace them, and uses
/// only these. Its bytes are the same in every page and every launch. Differences are in the tags.
enum PageLanguage {
    static let url = "/\(PageAPI.prefix)/language.js"
    static let bytes = Array(PageLanguage.text.utf8)
    static let sha256 = SHA256Digest(of: bytes)
    /// The cache rule for a URL that contains the content's digest.
    static let forAYear = "max-age=31536000, public, immutable"

    /// - Parameter sha256: The digest in the URL, or nil if there is none.
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
