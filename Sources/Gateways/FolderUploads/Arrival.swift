/// Counts the bytes of an upload and enforces the limits.
struct Arrival: Sendable {
    private let limits: UploaderLimits
    private var bytes = 0
    private var fileBytes = 0

    init(_ limits: UploaderLimits) {
        self.limits = limits
    }

    private var limit: Int { limits.fileBytes + UploaderLimits.formBytes }

    /// - Parameter length: The announced length of the whole body, or nil if the client does not announce it.
    func expect(_ length: Int?) throws(UploaderError) {
        if let length, length > limit { throw .tooLarge(limit: limits.fileBytes) }
    }

    mutating func take(_ count: Int) throws(UploaderError) {
        bytes += count
        guard bytes <= limit else { throw .tooLarge(limit: limits.fileBytes) }
    }

    mutating func takeFile(_ count: Int) throws(UploaderError) {
        fileBytes += count
        guard fileBytes <= limits.fileBytes else { throw .tooLarge(limit: limits.fileBytes) }
    }
}
