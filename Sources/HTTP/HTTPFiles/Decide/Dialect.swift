/// The rules that answers follow where HTTP servers of this field differ.
package enum Dialect: Equatable, Sendable {
    /// RFC 9110 and RFC 9112.
    case rfc9110
    /// GCDWebServer's rules, for clients made for it: one request per connection. Tags have no quotes and consist of inode and
    /// time. A date that is not older is enough for 304, and is evaluated before tags and ranges. If-Range is ignored. An
    /// unsatisfiable range is answered 404. No request is answered on the event loop.
    ///
    /// - Parameter name: The value of `Server`; GCDWebServer's own is `GCDWebServer`.
    case gcdWebServer(name: String)

    var compatible: GCDWebServerAnswer? {
        if case .gcdWebServer(let name) = self { GCDWebServerAnswer(name: name) } else { nil }
    }
}
