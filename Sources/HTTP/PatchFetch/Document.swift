import PatchCompression
package import PatchFormat

/// A file that is small enough to be held.
package struct Document: Equatable, Sendable {
    package let bytes: [UInt8]
    /// The compressed form that it came in.
    package let coding: CompressionFormat?
    /// It came before, in another answer.
    package var isPrefilled = false
    /// Why the bytes may be wrong; nil if nothing speaks against them.
    package internal(set) var doubt: FetchError?
}

/// A document, and what its server calls it.
package struct NamedDocument: Equatable, Sendable {
    package let document: Document
    /// To be sent as ``FetchRequest/unless``.
    package let validator: String?
    /// There is no document: the one that was named still holds.
    package let isUnchanged: Bool
}

extension Fetcher {
    /// The whole file, decoded.
    ///
    /// Where its compressed form does not give it, it is asked for once more as it is.
    package func document(_ request: FetchRequest) async throws(FetchError) -> Document {
        try await named(request).document
    }

    /// The same, or nothing where ``FetchRequest/unless`` still holds.
    package func named(_ request: FetchRequest) async throws(FetchError) -> NamedDocument {
        do throws(FetchError) {
            return try await decoded(request)
        } catch .badForm {
            return try await decoded(request.plain)
        }
    }

    private func decoded(_ request: FetchRequest) async throws(FetchError) -> NamedDocument {
        var bytes: [UInt8] = []
        var head = FetchedHead()
        var doubt: FetchError?
        do throws(FetchError) {
            try await fetch(request) { part throws(FetchError) in
                switch part {
                case .head(let new): head = new
                case .bytes(let chunk): bytes += chunk
                }
            }
        } catch .short(let path) {
            // Some proxies compress, and announce the plain file's length.
            if let coding = head.coding { throw .badForm(path, .incomplete(coding.codec)) }
            guard request.takesShort, !bytes.isEmpty else { throw .short(path) }
            doubt = .short(path)
        }
        if doubt == nil, let unread = head.unread { doubt = .encoded(request.path, as: unread) }
        guard let coding = head.coding else {
            return NamedDocument(
                document: Document(bytes: bytes, coding: nil, isPrefilled: head.isPrefilled, doubt: doubt),
                validator: head.validator,
                isUnchanged: head.isUnchanged
            )
        }
        let plain: [UInt8]
        do throws(CompressionError) {
            plain = try coding.decompressed(bytes, limit: request.limit)
        } catch { throw .badForm(request.path, error) }
        if head.isWebPage, !request.takesWebPage, plain.first == UInt8(ascii: "<") { throw .webPage(request.path) }
        return NamedDocument(
            document: Document(bytes: plain, coding: coding),
            validator: head.validator,
            isUnchanged: false
        )
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
        return try await document(request).bytes
    }

    package func bytes(_ path: String, limit: Int, deadline: Duration) async throws(FetchError) -> [UInt8] {
        try await document(FetchRequest(path, limit: limit, deadline: deadline)).bytes
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
