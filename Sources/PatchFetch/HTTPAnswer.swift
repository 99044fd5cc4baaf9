import NIOHTTP1
import PatchCompression
import PatchFormat
import PatchTrust

/// The meaning of an answer's head for its request.
///
/// Pure; RFC 9110 §13.1.5, §14 and §15.
enum HTTPAnswer: Equatable {
    /// The body is wanted; `length` as announced.
    case body(FetchedHead, length: Int?)
    /// The server still has the known bytes.
    case notModified
    /// 416: there is no such part, so all of it must be asked for.
    case noSuchRange

    /// - Parameter tag: of the If-None-Match that was sent, if any.
    init(
        _ status: Int,
        _ headers: HTTPHeaders,
        to request: FetchRequest,
        unless tag: String? = nil,
        from server: ServerURL? = nil
    ) throws(FetchError) {
        let path = request.path
        let location = headers.first(name: "location")
        if let sign = server.flatMap({ Interception(status: status, location: location, from: $0) }) {
            throw .intercepted(path, sign)
        }
        switch status {
        case 200:
            let coding = try Self.coding(headers, request)
            // The tag of a compressed form names its own bytes, whatever it is made of.
            if coding == nil { try Self.check(headers, request) }
            let length = headers.length
            if let length, length > request.limit, coding != nil || !(request.expected != nil && headers.isWebPage) {
                throw request.tooLarge(as: coding)
            }
            let head = headers.fetchedHead(offset: 0, of: request, coding)
            // Known before the body: no received bytes are given up for it.
            if head.isWebPage, coding == nil, let length, let expected = request.expected, length != expected.size {
                throw .webPage(path)
            }
            self = .body(head, length: length)
        case 206:
            guard let resume = request.resume else { throw .status(path, code: status) }
            // Who sends the rest of what a strong validator names need not repeat its coding (RFC 9110 §15.3.7).
            let coding = try Self.coding(headers, request) ?? resume.coding
            if coding == nil { try Self.check(headers, request) }
            let field = headers.first(name: "content-range") ?? ""
            guard let range = ContentRange(field), range.first == resume.offset,
                range.last == min(resume.end ?? range.total, range.total) - 1,
                coding == resume.coding,
                coding == nil ? request.mayHave(range.total) : range.total <= request.limit
            else { throw .wrongRange(path, field: field) }
            let head = headers.fetchedHead(offset: resume.offset, of: request, coding)
            self = .body(head, length: range.last - range.first + 1)
        case 304 where tag != nil: self = .notModified
        case 416 where request.resume != nil: self = .noSuchRange
        case 301...303, 307, 308: throw .redirected(path, to: location ?? "nowhere")
        // An object storage answers 403 for a missing file.
        case 403, 404: throw .notFound(path)
        case 429, 503:
            guard let retryAfter = headers.first(name: "retry-after").flatMap({ RetryAfter(field: $0) }) else {
                throw .status(path, code: status)
            }
            throw .busy(path, code: status, retryAfter: retryAfter)
        default: throw .status(path, code: status)
        }
    }

    /// The compressed form that the bytes are of; nil for the file as it is.
    private static func coding(
        _ headers: HTTPHeaders,
        _ request: FetchRequest
    ) throws(FetchError) -> CompressionFormat? {
        let fields = headers["content-encoding"].filter { $0.lowercased() != "identity" }
        guard let field = fields.first else { return nil }
        guard fields.count == 1, let coding = request.codings.first(where: { $0.rawValue == field.lowercased() })
        else { throw .encoded(request.path, as: fields.joined(separator: ", ")) }
        return coding
    }

    private static func check(_ headers: HTTPHeaders, _ request: FetchRequest) throws(FetchError) {
        guard let expected = request.expected, let tag = headers.first(name: "etag") else { return }
        let opaque = (tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]).filter { $0 != "\"" }.lowercased()
        guard let digest = Hex.bytes(opaque) else { return }
        let isContradiction =
            switch digest.count {
            case 20: expected.sha1.map { opaque != $0.hex } ?? false
            case 32: opaque != expected.sha256.hex
            default: false
            }
        if isContradiction { throw .contradictingTag(request.path, tag: tag) }
    }
}

extension FetchRequest {
    /// Whether the whole file, as it is, may have so many bytes.
    fileprivate func mayHave(_ total: Int) -> Bool { expected.map { total == $0.size } ?? (total <= limit) }

    /// - Parameter coding: of what has too many bytes.
    func tooLarge(as coding: CompressionFormat?) -> FetchError {
        coding.map { .badForm(path, .notSmaller($0.codec, limit: limit)) } ?? .tooLarge(path, limit: limit)
    }
}

/// `bytes 100-199/200` (RFC 9110 §14.4); nil for everything else, also for an unknown length.
struct ContentRange: Equatable {
    let first: Int
    let last: Int
    let total: Int

    init?(_ field: String) {
        guard let match = field.wholeMatch(of: #/bytes ([0-9]{1,18})-([0-9]{1,18})\/([0-9]{1,18})/#),
            let first = Int(match.1), let last = Int(match.2), let total = Int(match.3), first <= last, last < total
        else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }
}

extension HTTPHeaders {
    fileprivate var length: Int? {
        first(name: "content-length").flatMap { Int($0) }
    }

    fileprivate func fetchedHead(
        offset: Int,
        of request: FetchRequest,
        _ coding: CompressionFormat?
    ) -> FetchedHead {
        let validator = coding == nil ? strongValidator : validatorOfForm(of: request)
        return FetchedHead(offset: offset, validator: validator, isWebPage: isWebPage, coding: coding)
    }

    /// Neither a date nor the tag of the plain file tells it from its compressed forms.
    private func validatorOfForm(of request: FetchRequest) -> String? {
        guard first(name: "etag") != nil, let tag = strongValidator,
            request.expected.map({ tag != "\"\($0.sha256)\"" }) ?? true
        else { return nil }
        return tag
    }

    fileprivate var isWebPage: Bool {
        let type = first(name: "content-type")?.lowercased() ?? ""
        return type.hasPrefix("text/html") || type.hasPrefix("application/xhtml+xml")
    }

    /// A validator for If-Range: a strong tag, else a date that is older than the answer (RFC 9110 §8.8.2.2).
    var strongValidator: String? {
        if let tag = first(name: "etag") {
            return tag.hasPrefix("\"") && tag.utf8.count <= Limits.validator ? tag : nil
        }
        guard let modified = first(name: "last-modified"), let date = first(name: "date"), modified != date else {
            return nil
        }
        return modified.utf8.count <= Limits.validator ? modified : nil
    }
}
