/// Whose rules answers follow, where servers of this field differ.
package enum Dialect: Equatable, Sendable {
    /// RFC 9110 and RFC 9112.
    case rfc9110
    /// As GCDWebServer answers, for clients that were made for it: one request a connection; tags without quotes, of inode
    /// and time; a date that is not older is enough for 304 and goes before tags and ranges; If-Range is ignored; a range
    /// that cannot be met is 404. Nothing is answered on the event loop.
    ///
    /// - Parameter name: the value of Server, `GCDWebServer` there.
    case gcdWebServer(name: String)

    var compatible: GCDWebServerAnswer? {
        if case .gcdWebServer(let name) = self { GCDWebServerAnswer(name: name) } else { nil }
    }
}
