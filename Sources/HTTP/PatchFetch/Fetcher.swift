package import PatchFormat

/// A source of bytes: a server, a folder, a test's simulator.
package protocol Fetcher: Sendable {
    /// Hands over one head, then the bytes while they arrive, as they travel; together with `resume.offset` at most `limit` of
    /// them.
    func fetch(
        _ request: FetchRequest,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError)

    /// The bytes of `path`, which are not sent again when the server still has the `known` ones.
    func bytes(_ path: String, known: [UInt8], limit: Int, deadline: Duration) async throws(FetchError) -> [UInt8]
}

/// A request for one file.
package struct FetchRequest: Equatable, Sendable {
    /// The part of a file that is here, and the server's validator for it.
    package struct Resume: Equatable, Sendable {
        /// The first byte to ask for.
        package let offset: Int
        /// A strong validator, verbatim: an entity tag or a date (RFC 9110 §13.1.5).
        ///
        /// Nil if the path names the content: every
        /// server has the same bytes under it, and the receiver compares them with signed digests.
        package let validator: String?
        /// The compressed form that is here in part; its bytes are counted, not the file's.
        package let coding: CompressionFormat?
        /// The first byte after the wanted ones; nil for the rest of the file.
        package let end: Int?

        package init(offset: Int, validator: String?, coding: CompressionFormat? = nil, end: Int? = nil) {
            self.offset = offset
            self.validator = validator
            self.coding = coding
            self.end = end
        }
    }

    /// Below `/APP/`: `metadata/timestamp.json`; made by ``URLLayout`` only.
    package let path: String
    /// The most bytes of the whole file, and of a compressed form of it: one that is no smaller is none.
    package let limit: Int
    /// For the whole request.
    package let deadline: Duration
    /// Behind the path, without its `?`.
    package var query: String?
    /// A validator of what is here, verbatim: where it still holds, nothing else comes.
    package var unless: String?
    /// With `expected`, or of a file that has a size nobody signed.
    package var resume: Resume?
    /// Whether it is asked for as it is, and in no compressed form.
    package var isPlain = false
    /// Whether a web page is what is asked for, and not what somebody sent in its place.
    package var takesWebPage = false
    /// Whether only the answer's head is asked for: no byte of the file comes.
    package var isHead = false
    /// The digests of the whole file, if known.
    package var expected: ExpectedFile?
    /// Whether a body that is shorter than announced is accepted, because the receiver verifies its bytes.
    package var takesShort = false
    /// A document to post: then `path` is below the server itself, ``URLLayout/answer(_:_:)`` for one.
    package var question: [UInt8]?
    /// The media type of ``question``.
    package var questionType = "application/json"

    package init(
        _ path: String,
        limit: Int,
        deadline: Duration,
        expected: ExpectedFile? = nil,
        resume: Resume? = nil
    ) {
        self.path = path
        self.limit = limit
        self.deadline = deadline
        self.expected = expected
        self.resume = resume
    }

    /// The content codings that may be answered, in the order in which they are preferred.
    ///
    /// The timestamp goes as it is: it is small, and its tag is its digest. So does the rest of a file that came as it is,
    /// for that is what its validator names.
    package var codings: [CompressionFormat] {
        let isPlainRest = resume.map { $0.coding == nil } ?? false
        let isPlain = isPlain || isPlainRest || question != nil || path == URLLayout.timestamp || expected?.size == 0
        return isPlain ? [] : CompressionFormat.allCases
    }

    /// The same file from its first byte, in no compressed form.
    package var plain: FetchRequest {
        var request = self
        (request.isPlain, request.resume) = (true, nil)
        return request
    }
}

/// A piece of an answer.
package enum FetchedPart: Equatable, Sendable {
    /// Comes first, and once.
    case head(FetchedHead)
    case bytes([UInt8])
}

/// An answer's head, as far as it describes the bytes that follow.
package struct FetchedHead: Equatable, Sendable {
    /// Their first offset: the requested one, or 0 because the whole file is sent.
    package let offset: Int
    /// The strong validator of what is sent, verbatim; nil where the server names none.
    package let validator: String?
    /// Its type is HTML.
    package let isWebPage: Bool
    /// The compressed form that the bytes are of: whoever takes them decodes them, within bounds.
    package let coding: CompressionFormat?
    /// No bytes follow: ``FetchRequest/unless`` still holds.
    package let isUnchanged: Bool
    /// They came before, in another answer: see ``PrefilledFetcher``.
    package let isPrefilled: Bool
    /// How many bytes follow, as they travel; nil where the server does not say.
    package internal(set) var length: Int?
    /// The announced content coding that is not decoded, for messages; nil if there is none.
    package internal(set) var unread: String?

    package init(
        offset: Int = 0,
        validator: String? = nil,
        isWebPage: Bool = false,
        coding: CompressionFormat? = nil,
        isUnchanged: Bool = false,
        isPrefilled: Bool = false,
        length: Int? = nil
    ) {
        (self.isUnchanged, self.isPrefilled) = (isUnchanged, isPrefilled)
        self.offset = offset
        self.validator = validator
        self.isWebPage = isWebPage
        self.coding = coding
        self.length = length
    }
}

extension Fetcher {
    /// How many bytes would travel; nil where the server does not say.
    ///
    /// - Returns: also the compressed form that they would be of.
    package func size(_ request: FetchRequest) async throws(FetchError) -> (bytes: Int, coding: CompressionFormat?)? {
        var request = request
        request.isHead = true
        var found: FetchedHead?
        do throws(FetchError) {
            try await fetch(request) { part throws(FetchError) in
                switch part {
                case .head(let head): found = head
                // Nothing of a file is taken from one that sends it all the same.
                case .bytes: throw .notTaken(request.path, reason: "ended")
                }
            }
        } catch .notTaken {}
        guard let found, !found.isWebPage, let length = found.length else { return nil }
        return (length, found.coding)
    }
}
