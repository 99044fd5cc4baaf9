import NIOHTTP1
import PatchFormat

/// The content codings that an answer announces (RFC 9110 §8.4).
///
/// Object stores and forges keep any value that an uploader sent, such as an empty one, `aws-chunked` or `utf-8`. Unknown names are
/// ignored.
struct AnnouncedCodings: Equatable {
    /// The codings that the device decodes, in the order in which they were applied.
    let forms: [CompressionFormat]
    /// The field's value, if it names a coding that the device does not decode.
    let unread: String?

    init(_ headers: HTTPHeaders) {
        let value = headers["content-encoding"].joined(separator: ", ")
        var forms: [CompressionFormat] = []
        var isRead = true
        for name in value.split(separator: ",") {
            let name = name.filter { $0 != " " && $0 != "\t" }.lowercased()
            if let form = CompressionFormat(rawValue: name.hasPrefix("x-") ? String(name.dropFirst(2)) : name) {
                forms.append(form)
            } else if Self.others.contains(name) {
                isRead = false
            }
        }
        isRead = isRead && forms.count <= Self.most
        self.forms = isRead ? forms : []
        unread = isRead ? nil : value
    }

    /// Every coding is decoded in its own pass.
    private static let most = 2

    /// Codings of IANA's registry that are not in ``CompressionFormat``.
    private static let others: Set = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "pack200-gzip", "x-compress",
    ]
}
