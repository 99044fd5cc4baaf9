package import NIOHTTP1

/// Bytes in memory that answer a request.
///
/// With status 200, conditions and ranges apply as they do to a file, unless ``isWhole`` is set.
package struct ServedBytes: Sendable {
    /// 200 and above.
    package let status: HTTPResponseStatus
    package let bytes: [UInt8]
    /// A strong tag without its quotes, or nil to send none; the same tag means the same bytes.
    package let entityTag: String?
    package let contentType: String
    package let cacheControl: String
    /// Further fields of the answer; what the server itself decides (framing, Date, ETag, …) is overwritten.
    package var headers: HTTPHeaders
    /// The file they were read from; nil for none.
    ///
    /// A remembered answer is true for as long as that file stays what it is; without one, for as long as its edition.
    package let origin: FileOrigin?
    /// Whether all bytes are sent, whatever conditions and ranges the request has: the answer is about work that was done.
    package let isWhole: Bool

    /// - Precondition: `status` is final, and `entityTag` holds only visible characters other than `"`.
    package init(
        status: HTTPResponseStatus = .ok,
        bytes: [UInt8],
        entityTag: String? = nil,
        contentType: String,
        cacheControl: String = "no-cache",
        headers: HTTPHeaders = [:],
        origin: FileOrigin? = nil,
        isWhole: Bool = false
    ) {
        precondition(status.code >= 200, "not a final status")
        precondition(entityTag?.utf8.allSatisfy(EntityTag.isTagCharacter) ?? true, "not an entity tag")
        self.status = status
        self.bytes = bytes
        self.entityTag = entityTag
        self.contentType = contentType
        self.cacheControl = cacheControl
        self.headers = headers
        self.origin = origin
        self.isWhole = isWhole
    }
}
