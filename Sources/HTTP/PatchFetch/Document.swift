import PatchCompression
package import PatchFormat

/// A file that is small enough to be kept in memory.
package struct Document: Equatable, Sendable {
    package let bytes: [UInt8]
    /// The compressed form in which it was transferred.
    package let coding: CompressionFormat?
    /// Whether it was taken from a prefetched answer.
    package var isPrefilled = false
    /// Why the bytes may be wrong, or nil if there is no reason to doubt them.
    package internal(set) var doubt: FetchError?
}

/// A document with its server's validator.
package struct NamedDocument: Equatable, Sendable {
    package let document: Document
    /// The validator, for ``FetchRequest/unless``.
    package let validator: String?
    /// Whether there is no document because the known one is still current.
    package let isUnchanged: Bool
}

extension Fetcher {
    /// Returns the whole file, decoded.
    ///
    /// If its compressed form cannot be decoded to it, the plain file is requested once.
    package func document(_ request: FetchRequest) async throws(FetchError) -> Document {
        try await named(request).document
    }

    /// Returns the file, or no document if ``FetchRequest/unless`` is still current.
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
            // Some proxies compress the body but announce the plain file's length.
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

    /// Returns the answer to a question.
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
