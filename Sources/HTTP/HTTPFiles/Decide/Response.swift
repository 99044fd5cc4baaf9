import HTTPCore
import NIOCore
import NIOHTTP1

/// One response, complete except for its framing fields.
struct Response: Sendable {
    enum Body: Sendable {
        case none
        case bytes(ArraySlice<UInt8>)
        case file(OpenFile, Range<Int>)
        case stream(ServedStream)

        /// The size in bytes, or nil for a stream of unknown length.
        var count: Int? {
            switch self {
            case .none: 0
            case .bytes(let bytes): bytes.count
            case .file(_, let range): range.count
            case .stream(let stream): stream.length
            }
        }
    }

    var status: HTTPResponseStatus
    var headers: HTTPHeaders
    var body: Body
    /// The text in the body of a refusal.
    ///
    /// A source may replace it.
    var refusal: String?
}

extension Response {
    /// Makes a refusal with one line of text.
    init(refusing status: HTTPResponseStatus, message: String, headers: HTTPHeaders = [:]) {
        self.status = status
        self.headers = headers
        self.headers.replaceOrAdd(name: "Content-Type", value: "text/plain")
        if !headers.contains(name: "Cache-Control") { self.headers.add(name: "Cache-Control", value: "no-cache") }
        body = .bytes(Array("\(message)\n".utf8)[...])
        refusal = message
    }

    init(_ fault: RequestFault) {
        self.init(refusing: fault.status, message: fault.message)
    }

    init(_ file: ServedFile, open: OpenFile, for request: FileRequest) {
        let isFound = file.status == .ok
        let representation = Representation(
            entityTag: isFound ? file.entityTag : nil,
            contentType: file.contentType,
            cacheControl: file.cacheControl,
            headers: file.headers,
            modified: isFound ? file.modified.map { min($0, HTTPDate.second) } : nil,
            size: open.size
        )
        guard isFound else {
            self.init(status: file.status, headers: representation.allHeaders, body: .file(open, 0..<open.size))
            return
        }
        self.init(representation, for: request) { .file(open, $0) }
    }

    init(_ files: ServedFiles, for request: FileRequest) {
        self.init(
            Representation(
                entityTag: files.entityTag,
                contentType: files.contentType,
                cacheControl: files.cacheControl,
                headers: files.headers,
                modified: nil,
                size: files.size
            ),
            for: request
        ) { .stream(files.stream($0)) }
    }

    init(_ served: ServedBytes, for request: FileRequest) {
        let representation = Representation(
            entityTag: served.entityTag,
            contentType: served.contentType,
            cacheControl: served.cacheControl,
            headers: served.headers,
            modified: nil,
            size: served.bytes.count
        )
        if case .ok = served.status, !served.isWhole {
            self.init(representation, for: request) { .bytes(served.bytes[$0]) }
        } else {
            self.init(status: served.status, headers: representation.allHeaders, body: .bytes(served.bytes[...]))
            if served.status == .noContent { headers.remove(name: "Content-Type") }
        }
    }

    /// Makes the response to this request from `representation`.
    private init(_ representation: Representation, for request: FileRequest, body: (Range<Int>) -> Body) {
        let size = representation.size
        let delivery = Delivery(
            method: request.method,
            headers: request.headers,
            entityTag: representation.entityTag,
            modified: representation.modified,
            size: size
        )
        switch delivery {
        case .whole:
            self.init(status: .ok, headers: representation.allHeaders, body: body(0..<size))
            headers.replaceOrAdd(name: "Accept-Ranges", value: "bytes")
        case .part(let range):
            self.init(status: .partialContent, headers: representation.allHeaders, body: body(range))
            headers.replaceOrAdd(name: "Accept-Ranges", value: "bytes")
            let contentRange = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            headers.replaceOrAdd(name: "Content-Range", value: contentRange)
        case .notModified:
            self.init(status: .notModified, headers: representation.cacheHeaders, body: .none)
        case .preconditionFailed:
            self.init(refusing: .preconditionFailed, message: "The precondition failed.")
        case .unsatisfiable:
            let headers = HTTPHeaders([("Content-Range", "bytes */\(size)"), ("Accept-Ranges", "bytes")])
            self.init(refusing: .rangeNotSatisfiable, message: "No such range.", headers: headers)
        }
    }
}

/// The fields of a representation.
///
/// A 304 carries only some of them; all other answers carry all.
private struct Representation {
    let entityTag: String?
    let contentType: String
    let cacheControl: String
    let headers: HTTPHeaders
    /// Seconds since 1970, never in the future (RFC 9110 §8.8.2.1).
    let modified: Int?
    /// The size in bytes.
    let size: Int

    var allHeaders: HTTPHeaders {
        var all = headers
        all.replaceOrAdd(name: "Content-Type", value: contentType)
        all.replaceOrAdd(name: "Cache-Control", value: cacheControl)
        if let entityTag { all.replaceOrAdd(name: "ETag", value: "\"\(entityTag)\"") }
        if let modified { all.replaceOrAdd(name: "Last-Modified", value: HTTPDate.text(secondsSince1970: modified)) }
        return all
    }

    /// The fields of a 200 that a 304 repeats (RFC 9110 §15.4.5).
    var cacheHeaders: HTTPHeaders {
        var some = HTTPHeaders()
        for name in ["Content-Location", "Expires", "Vary", "Set-Cookie"] {
            for value in headers[name] { some.add(name: name, value: value) }
        }
        some.add(name: "Cache-Control", value: cacheControl)
        // A date adds nothing to a tag, so it is sent only without one.
        if entityTag == nil, let modified {
            some.add(name: "Last-Modified", value: HTTPDate.text(secondsSince1970: modified))
        }
        if let entityTag { some.add(name: "ETag", value: "\"\(entityTag)\"") }
        return some
    }
}
