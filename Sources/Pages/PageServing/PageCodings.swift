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
        takesDictionaries = DictionaryOffer.isTaken(fields["Accept-Encoding"])
        let named = takesDictionaries ? fields.first(name: DictionaryOffer.available) : nil
        dictionary = named.flatMap { DictionaryOffer.digest(in: $0) }
    }
}
