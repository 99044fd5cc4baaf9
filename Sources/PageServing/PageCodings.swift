import HTTPFiles
import NIOHTTP1
import PatchCompression
import PatchFormat

/// In which codings a client takes a page.
struct PageCodings: Equatable, Sendable {
    /// Best first, of those that are made here.
    let plain: [CompressionFormat]
    /// Whether it takes what is compressed against a page that it has.
    let takesDictionaries: Bool
    /// The page that it has.
    let dictionary: SHA256Digest?

    init(_ fields: HTTPHeaders) {
        plain = ContentCoding.accepted(in: fields).compactMap { CompressionFormat(rawValue: $0.rawValue) }
        takesDictionaries = fields["Accept-Encoding"].flatMap { $0.split(separator: ",") }.contains { element in
            let parts = element.lowercased().split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            return parts.first == DictionaryCompressed.coding && !parts.dropFirst().contains { Self.isNone($0) }
        }
        dictionary = takesDictionaries ? fields.first(name: "Available-Dictionary").flatMap(Self.digest) : nil
    }

    var takesGzip: Bool { plain.contains(.gzip) }

    private static func isNone(_ weight: String) -> Bool {
        ["q=0", "q=0.", "q=0.0", "q=0.00", "q=0.000"].contains(weight)
    }

    /// A byte sequence of structured fields (RFC 9651 §3.3.5): `:pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=:`.
    private static func digest(_ field: String) -> SHA256Digest? {
        let text = field.filter { $0 != " " && $0 != "\t" }
        guard text.utf8.count > 2, text.hasPrefix(":"), text.hasSuffix(":"),
            let bytes = Base64.bytes(String(text.dropFirst().dropLast()))
        else { return nil }
        return SHA256Digest(bytes: bytes)
    }
}
