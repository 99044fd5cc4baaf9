import HTTPCore
import NIOHTTP1
import PatchCompression
import PatchFormat

/// The meaning of an answer's head for its request.
///
/// Pure; RFC 9110 §13.1.5, §14 and §15. A field that contradicts the request costs at most another request, because signed digests
/// decide about the bytes.
enum HTTPAnswer: Equatable {
    /// The body is wanted. `length` is the announced one.
    ///
    /// `undoing`: announced codings that were not requested, in the order in which they were applied.
    case body(FetchedHead, length: Int?, undoing: [CompressionFormat] = [])
    /// The server still has the known bytes.
    case notModified
    /// There is no such part, or the answer has another part. The whole file must be requested.
    case noSuchRange
    /// The file has moved. The value is the server's `Location`.
    case movedTo(String)

    /// - Parameter tag: The tag of the If-None-Match that was sent, if any.
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
        // 203: a proxy may have changed the answer.
        case 200, 203: self = try Self.whole(headers, request)
        case 206:
            if let resume = request.resume {
                self = Self.part(headers, request, resume)
            } else {
                // Some servers send a 206 for every request.
                guard headers.coversWholeFile else { throw .status(path, code: status) }
                self = try Self.whole(headers, request)
            }
        case 304 where tag != nil: self = .notModified
        case 416 where request.resume != nil: self = .noSuchRange
        case 301...303, 307, 308:
            guard request.question == nil, let location else { throw .redirected(path, to: location ?? "nowhere") }
            self = .movedTo(location)
        // Object stores answer 403 for a missing file.
        case 403, 404: throw .notFound(path)
        case 429, 503:
            guard let retryAfter = headers.first(name: "retry-after").flatMap({ RetryAfter(field: $0) }) else {
                throw .status(path, code: status)
            }
            throw .busy(path, code: status, retryAfter: retryAfter)
        default: throw .status(path, code: status)
        }
    }

    private static func whole(_ headers: HTTPHeaders, _ request: FetchRequest) throws(FetchError) -> HTTPAnswer {
        let announced = AnnouncedCodings(headers)
        let length = headers.length
        if let form = announced.forms.first, announced.forms.count == 1, request.codings.contains(form) {
            if let length, length > request.limit { throw request.tooLarge(as: form) }
            return .body(headers.fetchedHead(offset: 0, of: request, form), length: length)
        }
        let forms = announced.forms
        guard forms.isEmpty else {
            if let length, length > CodingRemoval.limit(of: request) { throw request.tooLarge(as: nil) }
            // The tag identifies the coded bytes, so it is omitted. Otherwise a later request would resume from decoded bytes.
            return .body(FetchedHead(isWebPage: headers.isWebPage), length: length, undoing: forms)
        }
        // The received bytes of a file with a signed size are counted. The announced length is ignored.
        if let length, length > request.limit, request.expected == nil { throw request.tooLarge(as: nil) }
        var head = headers.fetchedHead(offset: 0, of: request, nil)
        head.unread = announced.unread
        // Known before the body, so no received bytes are lost.
        if let length, let expected = request.expected, length != expected.size {
            if head.isWebPage { throw .webPage(request.path) }
            if let unread = announced.unread { throw .encoded(request.path, as: unread) }
        }
        return .body(head, length: length)
    }

    private static func part(
        _ headers: HTTPHeaders,
        _ request: FetchRequest,
        _ resume: FetchRequest.Resume
    ) -> HTTPAnswer {
        let forms = AnnouncedCodings(headers).forms
        guard let range = headers.first(name: "content-range").flatMap({ ContentRange($0) }),
            range.first == resume.offset,
            range.last == min(resume.end ?? range.total, range.total) - 1,
            resume.coding == nil ? request.mayHave(range.total) : range.total <= request.limit,
            // A server that sends the rest of a representation for a strong validator need not repeat its coding (RFC 9110
            // §15.3.7).
            forms.isEmpty || resume.mayBe(forms, of: request)
        else { return .noSuchRange }
        let head = headers.fetchedHead(offset: resume.offset, of: request, resume.coding)
        return .body(head, length: range.last - range.first + 1)
    }
}

extension FetchRequest.Resume {
    /// Whether the stored part may be the beginning of a representation with these codings.
    fileprivate func mayBe(_ forms: [CompressionFormat], of request: FetchRequest) -> Bool {
        guard let coding else { return request.expected != nil || validator != nil }
        return forms == [coding]
    }
}

extension FetchRequest {
    /// Whether the whole plain file may have `total` bytes.
    fileprivate func mayHave(_ total: Int) -> Bool { expected.map { total == $0.size } ?? (total <= limit) }

    /// - Parameter coding: The coding of the body that is too large, or nil for the plain file.
    func tooLarge(as coding: CompressionFormat?) -> FetchError {
        coding.map { .badForm(path, .notSmaller($0.codec, limit: limit)) } ?? .tooLarge(path, limit: limit)
    }
}

/// A parsed `bytes 100-199/200` (RFC 9110 §14.4).
///
/// Nil for all other values, including an unknown total.
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

    /// The validator of a compressed form.
    ///
    /// Dates and the plain file's tag are excluded, because they do not distinguish the forms.
    private func validatorOfForm(of request: FetchRequest) -> String? {
        guard first(name: "etag") != nil, let tag = strongValidator,
            request.expected.map({ tag != "\"\($0.sha256)\"" }) ?? true
        else { return nil }
        return tag
    }

    /// Whether a 206 contains the whole file.
    fileprivate var coversWholeFile: Bool {
        guard let range = first(name: "content-range").flatMap({ ContentRange($0) }) else { return false }
        return range.first == 0 && range.last == range.total - 1
    }

    fileprivate var isWebPage: Bool {
        let type = first(name: "content-type")?.lowercased() ?? ""
        return type.hasPrefix("text/html") || type.hasPrefix("application/xhtml+xml")
    }

    /// A validator for If-Range: a strong tag, or else a date that is older than the answer (RFC 9110 §8.8.2.2).
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
