import HTTPCore
import PatchFormat

extension RequestPath {
    /// The percent-encoded path without its first segment.
    var droppingFirst: String {
        "/" + segments.dropFirst().map(URLLayout.percentEncoded).joined(separator: "/") + (hasTrailingSlash ? "/" : "")
    }
}
