import HTTPCore
import Linux
import NIOCore
import NIOHTTP1

/// GCDWebServer's response for a file or for bytes, computed from values.
///
/// A file with a tag keeps the tag and has no date: another release may have an older file under the same URL, so a newer date
/// proves nothing.
///
/// Source: the requests and answers recorded in its own repository.
struct GCDWebServerAnswer {
    /// The value of `Server`.
    let name: String

    /// - Parameter now: Seconds since 1970, for dates with two-digit years.
    func response(to request: FileRequest, with file: ServedFile, _ open: OpenFile, now: Int) -> Response {
        let seconds = Int(open.modified.components.seconds)
        let modified = file.entityTag == nil ? seconds : nil
        let tag = file.entityTag ?? "\(open.identity.inode)/\(seconds)/\(open.identity.modified % 1_000_000_000)"
        var headers = file.headers
        headers.replaceOrAdd(name: "Etag", value: tag)
        if let modified {
            headers.replaceOrAdd(name: "Last-Modified", value: HTTPDate.text(secondsSince1970: modified))
        }
        if isKnown(tag, modified, to: request, now: now) {
            return Response(status: .notModified, headers: headers, body: .none)
        }
        headers.replaceOrAdd(name: "Content-Type", value: file.contentType)
        headers.replaceOrAdd(name: "Cache-Control", value: file.cacheControl)
        // A download is sent whole.
        if headers.contains(name: "Content-Disposition") {
            return Response(status: .ok, headers: headers, body: .file(open, 0..<open.size))
        }
        headers.replaceOrAdd(name: "Accept-Ranges", value: "bytes")
        switch ByteRange(parsing: request.headers["Range"])?.resolved(size: open.size) {
        case .bytes(let range)?:
            let shown = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(open.size)"
            headers.replaceOrAdd(name: "Content-Range", value: shown)
            return Response(status: .partialContent, headers: headers, body: .file(open, range))
        case .unsatisfiable?:
            return Response(refusing: .notFound, message: "Not found.")
        case .whole?, nil:
            return Response(status: .ok, headers: headers, body: .file(open, 0..<open.size))
        }
    }

    private func isKnown(_ tag: String, _ modified: Int?, to request: FileRequest, now: Int) -> Bool {
        if let modified, let date = request.headers.first(name: "If-Modified-Since"),
            let date = HTTPDate.seconds(date, now: now), date >= modified
        {
            return true
        }
        return request.headers["If-None-Match"].contains { $0 == tag || $0 == "*" }
    }

    /// Conditions and ranges apply only to files.
    func response(with served: ServedBytes) -> Response {
        var headers = served.headers
        headers.replaceOrAdd(name: "Content-Type", value: served.contentType)
        headers.replaceOrAdd(name: "Cache-Control", value: served.cacheControl)
        return Response(status: served.status, headers: headers, body: .bytes(served.bytes[...]))
    }

    /// Returns the status line and the fields.
    func head(of response: Response, date: String) -> ByteBuffer {
        var fields = response.headers
        for field in ["Connection", "Content-Length", "Transfer-Encoding", "Keep-Alive"] { fields.remove(name: field) }
        fields.replaceOrAdd(name: "Connection", value: "Close")
        fields.replaceOrAdd(name: "Server", value: name)
        fields.replaceOrAdd(name: "Date", value: date)
        // The connection's end marks the end of a body without a length.
        if response.hasContent, let count = response.body.count {
            fields.add(name: "Content-Length", value: String(count))
        }
        return Response.head(response.status, fields)
    }
}
