import HTTPFiles
import PatchFormat

extension RequestPath {
    /// Percent-encoded, without its first segment.
    var droppingFirst: String {
        "/" + segments.dropFirst().map(URLLayout.percentEncoded).joined(separator: "/") + (hasTrailingSlash ? "/" : "")
    }
}
