package import PatchFormat

/// A source of bytes: a server, a folder, a test's simulator.
package protocol Fetcher: Sendable {
    /// Hands over one head, then the bytes while they arrive; together with `resume.offset` at most `limit` of them.
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
        package let validator: String

        package init(offset: Int, validator: String) {
            self.offset = offset
            self.validator = validator
        }
    }

    /// Below `/APP/`: `metadata/timestamp.json`; made by ``URLLayout`` only.
    package let path: String
    /// The most bytes of the whole file, or of the part.
    package let limit: Int
    /// For the whole request.
    package let deadline: Duration
    /// Only with `expected`.
    package var resume: Resume?
    /// Only these bytes of the file, and all of them: any other answer is refused.
    package private(set) var part: Range<Int>?
    /// The digests of the whole file, if known.
    package var expected: ExpectedFile?
    /// A document to post: then `path` is ``URLLayout/answer(_:_:)``, below the server itself.
    package var question: [UInt8]?

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

    /// - Precondition: `part` is not empty.
    package init(_ path: String, part: Range<Int>, deadline: Duration) {
        precondition(!part.isEmpty, "no bytes to ask for")
        self.init(path, limit: part.count, deadline: deadline)
        self.part = part
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
    /// The file's strong validator, verbatim; nil where the server names none.
    package let validator: String?
    /// Its type is HTML.
    package let isWebPage: Bool

    package init(offset: Int = 0, validator: String? = nil, isWebPage: Bool = false) {
        self.offset = offset
        self.validator = validator
        self.isWebPage = isWebPage
    }
}

extension Fetcher {
    /// The bytes of a whole file as they come.
    package func fetch(
        _ path: String,
        limit: Int,
        deadline: Duration,
        receive: (_ chunk: [UInt8]) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        try await fetch(FetchRequest(path, limit: limit, deadline: deadline)) { part throws(FetchError) in
            if case .bytes(let chunk) = part { try await receive(chunk) }
        }
    }

    /// The answer to a question.
    package func answer(
        to question: [UInt8],
        at path: String,
        limit: Int,
        deadline: Duration
    ) async throws(FetchError) -> [UInt8] {
        var request = FetchRequest(path, limit: limit, deadline: deadline)
        request.question = question
        var bytes: [UInt8] = []
        try await fetch(request) { part throws(FetchError) in
            if case .bytes(let chunk) = part { bytes += chunk }
        }
        return bytes
    }

    package func bytes(_ path: String, limit: Int, deadline: Duration) async throws(FetchError) -> [UInt8] {
        var bytes: [UInt8] = []
        try await fetch(path, limit: limit, deadline: deadline) { bytes += $0 }
        return bytes
    }

    package func bytes(
        _ path: String,
        known: [UInt8],
        limit: Int,
        deadline: Duration
    ) async throws(FetchError) -> [UInt8] {
        try await bytes(path, limit: limit, deadline: deadline)
    }
}
