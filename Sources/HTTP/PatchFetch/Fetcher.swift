package import PatchFormat

/// A source of bytes: a server, a folder, or a test's simulator.
package protocol Fetcher: Sendable {
    /// Passes one head to the receiver, and then the transferred bytes while they arrive. Together with `resume.offset`, there are
    /// at most `limit` bytes.
    func fetch(
        _ request: FetchRequest,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError)

    /// Returns the bytes of `path`. They are not transferred if the server's are the same as `known`.
    func bytes(_ path: String, known: [UInt8], limit: Int, deadline: Duration) async throws(FetchError) -> [UInt8]
}

/// A request for one file.
package struct FetchRequest: Equatable, Sendable {
    /// The stored part of a file, and the server's validator for it.
    package struct Resume: Equatable, Sendable {
        /// The offset of the first requested byte.
        package let offset: Int
        /// A strong validator, verbatim: an entity tag or a date (RFC 9110 §13.1.5).
        ///
        /// Nil if the path identifies the content: every server has the same bytes under it, and the receiver compares them with
        /// signed digests.
        package let validator: String?
        /// The compressed form of the stored part.
        ///
        /// Then `offset` counts its bytes instead of the file's.
        package let coding: CompressionFormat?
        /// The offset after the last requested byte, or nil for the rest of the file.
        package let end: Int?

        package init(offset: Int, validator: String?, coding: CompressionFormat? = nil, end: Int? = nil) {
            self.offset = offset
            self.validator = validator
            self.coding = coding
            self.end = end
        }
    }

    /// The path below `/APP/`, such as `metadata/timestamp.json`.
    ///
    /// Only ``URLLayout`` makes it.
    package let path: String
    /// The largest size of the whole file, and of its compressed form, which must be smaller than the file.
    package let limit: Int
    /// The time limit for the whole request.
    package let deadline: Duration
    /// The query after the path, without its `?`.
    package var query: String?
    /// A validator of the stored file, verbatim.
    ///
    /// If it is still current, no bytes are sent.
    package var unless: String?
    /// The part to request.
    ///
    /// Only with `expected`, or for a file without a signed size.
    package var resume: Resume?
    /// Whether only the plain file is accepted, in no compressed form.
    package var isPlain = false
    /// Whether a web page is the expected content instead of a sign of interception.
    package var takesWebPage = false
    /// Whether only the answer's head is requested, without any bytes of the file.
    package var isHead = false
    /// The digests of the whole file, if known.
    package var expected: ExpectedFile?
    /// Whether a body that is shorter than announced is accepted, because the receiver verifies its bytes.
    package var takesShort = false
    /// A document to post.
    ///
    /// Then `path` is below the server itself, for example ``URLLayout/answer(_:_:)``.
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

    /// The accepted content codings, in order of preference.
    ///
    /// The timestamp is requested plain: it is small, and its tag is its digest. The rest of a plain file is requested plain too,
    /// because its validator identifies the plain file.
    package var codings: [CompressionFormat] {
        let isPlainRest = resume.map { $0.coding == nil } ?? false
        let isPlain = isPlain || isPlainRest || question != nil || path == URLLayout.timestamp || expected?.size == 0
        return isPlain ? [] : CompressionFormat.allCases
    }

    /// The same request for the plain file from its first byte.
    package var plain: FetchRequest {
        var request = self
        (request.isPlain, request.resume) = (true, nil)
        return request
    }
}

/// A piece of an answer.
package enum FetchedPart: Equatable, Sendable {
    /// Sent once, before all other pieces.
    case head(FetchedHead)
    case bytes([UInt8])
}

/// An answer's head, with the fields that describe the bytes that follow.
package struct FetchedHead: Equatable, Sendable {
    /// The offset of the first byte: the requested one, or 0 if the whole file is sent.
    package let offset: Int
    /// The strong validator of the sent bytes, verbatim, or nil if the server has none.
    package let validator: String?
    /// Whether the media type is HTML.
    package let isWebPage: Bool
    /// The compressed form of the bytes.
    ///
    /// The receiver decodes them, within its limits.
    package let coding: CompressionFormat?
    /// Whether no bytes follow because ``FetchRequest/unless`` is still current.
    package let isUnchanged: Bool
    /// Whether the bytes are from a prefetched answer: see ``PrefilledFetcher``.
    package let isPrefilled: Bool
    /// The number of bytes that follow, as transferred, or nil if the server does not announce it.
    package internal(set) var length: Int?
    /// The announced content coding that is not decoded, for messages, or nil if there is none.
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
    /// Returns the number of bytes that a download would transfer, or nil if the server does not announce it.
    ///
    /// - Returns: The number, and the compressed form of the bytes.
    package func size(_ request: FetchRequest) async throws(FetchError) -> (bytes: Int, coding: CompressionFormat?)? {
        var request = request
        request.isHead = true
        var found: FetchedHead?
        do throws(FetchError) {
            try await fetch(request) { part throws(FetchError) in
                switch part {
                case .head(let head): found = head
                // A server that sends the file anyway is ignored.
                case .bytes: throw .notTaken(request.path, reason: "ended")
                }
            }
        } catch .notTaken {}
        guard let found, !found.isWebPage, let length = found.length else { return nil }
        return (length, found.coding)
    }
}
