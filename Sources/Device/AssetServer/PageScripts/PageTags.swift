import PatchFormat
import PatchCrypto

/// The tags that the device inserts into a document: the release stamp, then the language of script patches and each script of the
/// page, in the order of the list.
///
/// The scripts are files of the page's own origin, so that a policy that allows no others permits them. Each tag contains the
/// SHA-256 of the script's bytes, so that browsers run only these. The URLs contain the digest too.
struct PageTags: Equatable, Sendable {
    let text: String

    /// - Parameter stamp: Identifies the selection. Nil before the first install.
    init(stamp: ReleaseStamp?, version: String?, scripts: [ServedScripts.Script] = []) {
        let release = stamp.map { stamp in
            let version = version.map { " data-version=\"\(Self.escaped($0))\"" } ?? ""
            return "<script data-patchline=\"\(stamp)\"\(version)>\(StampScript.text)</script>"
        }
        let patches = scripts.map { script in
            Self.tag(script.url, script.sha256, " data-patch=\"\(script.patchID)\" data-version=\"\(script.version)\"")
        }
        let language = patches.isEmpty ? [] : [Self.tag(PageLanguage.url, PageLanguage.sha256, "")]
        text = ([release].compactMap(\.self) + language + patches).joined()
    }

    private static func tag(_ url: String, _ sha256: SHA256Digest, _ more: String) -> String {
        "<script src=\"\(url)?\(parameter)=\(sha256.hex)\" integrity=\"sha256-\(Base64.text(sha256.bytes))\"\(more)></script>"
    }

    /// Escapes a version.
    ///
    /// Versions of a Meteor server may contain any character. Those of patches contain no special characters of HTML.
    private static func escaped(_ version: String) -> String {
        version.reduce(into: "") { text, character in
            switch character {
            case "&": text += "&amp;"
            case "\"": text += "&quot;"
            case "<": text += "&lt;"
            default: text.append(character)
            }
        }
    }

    /// The query parameter of a script's URL with the SHA-256 of its bytes.
    static let parameter = "sha256"
}
