import HTTPCore
package import NIOHTTP1

/// Bytes in memory that answer a request.
///
/// With status 200, conditions and ranges apply as they do to a file, unless ``isWhole`` is set.
package struct ServedBytes: Sendable {
    /// The status, 200 or above.
    package let status: HTTPResponseStatus
    package let bytes: [UInt8]
    /// A strong tag without its quotes, or nil to send none; the same tag means the same bytes.
    package let entityTag: String?
    package let contentType: String
    package let cacheControl: String
    /// Further fields of the answer.
    ///
    /// Fields that the server decides (framing, Date, ETag, …) are overwritten.
    package var headers: HTTPHeaders
    /// The file that the bytes were read from, or nil.
    ///
    /// A remembered answer is valid while that file is unchanged; without a file, while its edition is current.
    package let origin: FileOrigin?
    /// Whether all bytes are always sent, regardless of conditions and ranges, because the answer reports work that was done.
    package let isWhole: Bool

    /// - Precondition: `status` is final, and `entityTag` contains only visible characters other than `"`.
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
