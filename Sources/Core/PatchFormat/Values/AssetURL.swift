/// The URL path of an asset as pages request it, percent-encoded: `/app/main.js`, `/caf%C3%A9.svg`.
package enum AssetURL {
    package static let rule =
        "must be the percent-encoded path of a file: '/', then segments that decode to names, the first not __patchline"
    private static let maximumBytes = 4_096

    /// `/` and the decoded segments, which are equal for two spellings of one URL.
    ///
    /// Nil if no request can ask for the URL.
    package static func decoded(_ url: String) -> String? {
        guard url.utf8.count <= maximumBytes, url.utf8.first == UInt8(ascii: "/") else { return nil }
        if url.utf8.count == 1 || isPlain(url) { return url }
        var decoded = ""
        for piece in url.piecesBetweenSlashes.dropFirst() {
            guard let name = name(piece), !(decoded.isEmpty && name == "__patchline") else { return nil }
            decoded += "/" + name
        }
        return decoded
    }

    /// Whether the URL is certainly its own decoded form: it contains no escape and no character that a rule restricts.
    private static func isPlain(_ url: String) -> Bool {
        var last = UInt8(ascii: " ")
        let bytes = url.utf8.span
        for place in bytes.indices {
            let byte = bytes[place]
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"): break
            // At the start of a segment, `.`, `..` and `__patchline` need the full check.
            case UInt8(ascii: "."), UInt8(ascii: "_"): if last == UInt8(ascii: "/") { return false }
            case UInt8(ascii: "/"): if last == byte { return false }
            default: return false
            }
            last = byte
        }
        return last != UInt8(ascii: "/")
    }

    private static func name(_ piece: String) -> String? {
        let isVisible = piece.utf8.allSatisfy { byte in
            (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
        }
        guard isVisible, let bytes = PercentEncoding.decoded(piece.utf8) else { return nil }
        guard let name = String(validating: bytes, as: UTF8.self), !name.isEmpty, name != ".", name != "..",
            !bytes.contains(UInt8(ascii: "/")), !bytes.contains(UInt8(ascii: "\\")),
            !name.holdsControlCharacters
        else { return nil }
        return name
    }
}
