import HTTPCore
import NIOHTTP1
import PatchCompression
import PatchFormat

/// The codings that a client accepts for a page.
struct PageCodings: Equatable, Sendable {
    /// The supported codings, best first.
    let plain: [CompressionFormat]
    /// Whether the client accepts pages compressed against a page that it has.
    let takesDictionaries: Bool
    /// The digest of the client's page.
    let dictionary: SHA256Digest?

    init(_ fields: HTTPHeaders) {
        plain = ContentCoding.accepted(in: fields).compactMap { CompressionFormat(rawValue: $0.rawValue) }
        takesDictionaries = DictionaryOffer.isTaken(fields["Accept-Encoding"])
        let named = takesDictionaries ? fields.first(name: DictionaryOffer.available) : nil
        dictionary = named.flatMap { DictionaryOffer.digest(in: $0) }
    }
}
