import PatchFormat

/// Counts and limits the bytes of an answer while they arrive.
struct ReceivedBody {
    private let request: FetchRequest
    private let head: FetchedHead
    /// The announced length.
    private let length: Int?
    private var removal: CodingRemoval?
    /// Transferred bytes, including those before the requested part.
    private var received: Int
    private var waiting: [UInt8] = []

    init(_ request: FetchRequest, _ head: FetchedHead, undoing forms: [CompressionFormat], length: Int?) {
        (self.request, self.head, self.length) = (request, head, length)
        removal = forms.isEmpty ? nil : CodingRemoval(forms, of: request, length: length)
        received = head.offset
    }

    /// Whether every byte of a file of known size has arrived, regardless of the announced length.
    var isWhole: Bool { removal == nil && head.coding == nil && request.expected?.size == received }

    /// Takes the next bytes.
    ///
    /// Call ``next()`` until it returns nil before the next ones.
    mutating func feed(_ bytes: [UInt8]) throws(FetchError) {
        received += bytes.count
        let limit = removal == nil ? request.limit : CodingRemoval.limit(of: request)
        guard received <= limit else { throw request.tooLarge(as: head.coding) }
        if removal == nil { waiting = bytes } else { removal?.feed(bytes) }
    }

    /// Returns the next bytes of the file.
    mutating func next() throws(FetchError) -> [UInt8]? {
        guard var removal else {
            defer { waiting = [] }
            return waiting.isEmpty ? nil : try checked(waiting)
        }
        defer { self.removal = removal }
        return try removal.next().map { bytes throws(FetchError) in try checked(bytes) }
    }

    /// Notes the end of the body.
    ///
    /// Call ``next()`` until it returns nil, then ``check()``.
    mutating func end() { removal?.end() }

    func check() throws(FetchError) {
        if let length, received != head.offset + length, !isWhole { throw .short(request.path) }
        try removal?.check()
    }

    private func checked(_ bytes: [UInt8]) throws(FetchError) -> [UInt8] {
        let isPage = head.isWebPage && !request.takesWebPage && request.expected == nil && head.coding == nil
        if isPage, bytes.first == UInt8(ascii: "<") { throw .webPage(request.path) }
        return bytes
    }
}
