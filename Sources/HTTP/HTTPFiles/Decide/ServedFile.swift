import HTTPCore
package import Linux
package import NIOHTTP1
package import SystemPackage

/// A file that answers a request, as the source expects it.
///
/// The server opens it and sends the actual file.
package struct ServedFile: Sendable {
    /// The path, opened once for each answer.
    ///
    /// A symlink as the last name is never followed.
    package let path: FilePath
    /// If set, `path` is below this folder and opened from it name by name, so that no symlink between the two is
    /// followed either, even one that appeared after the source's check.
    package let root: FilePath?
    /// The status: 200, or an error if the file is an error page.
    ///
    /// Then conditions and ranges do not apply, and no tag is sent.
    package var status: HTTPResponseStatus = .ok
    /// A strong tag without its quotes, or nil to send none; the same tag means the same bytes.
    package let entityTag: String?
    package let contentType: String
    package let cacheControl: String
    /// Further fields of the answer; fields that the server decides (framing, Date, ETag, …) are overwritten.
    package var headers: HTTPHeaders
    /// Sent as Last-Modified, in seconds since 1970; nil to send none.
    package let modified: Int?
    /// Kept until the response has ended, complete or not.
    package var lease: Lease?
    /// The required size.
    ///
    /// A file with another size is answered 500 and logged, never sent.
    package let size: Int?
    /// The required identity.
    ///
    /// Another file, or one written since, is answered 503 and logged, never sent.
    package let identity: FileIdentity?
    /// The file that made the source choose this one, or nil if the request path alone did.
    ///
    /// A remembered answer is valid only while that file, too, is unchanged.
    package var reason: FileOrigin?

    /// - Precondition: `entityTag` contains only visible characters other than `"` (RFC 9110 §8.8.3).
    package init(
        path: FilePath,
        root: FilePath? = nil,
        entityTag: String? = nil,
        contentType: String = ContentType.unknown,
        cacheControl: String = "no-cache",
        headers: HTTPHeaders = [:],
        modified: Int? = nil,
        size: Int? = nil,
        identity: FileIdentity? = nil
    ) {
        precondition(entityTag?.utf8.allSatisfy(EntityTag.isTagCharacter) ?? true, "not an entity tag")
        self.path = path
        self.root = root
        self.entityTag = entityTag
        self.contentType = contentType
        self.cacheControl = cacheControl
        self.headers = headers
        self.modified = modified
        self.size = size
        self.identity = identity
    }

    /// A file that ``FolderFiles`` found, with the size it had then and the media type of its name.
    ///
    /// - Parameter sendsModified: Whether its last modification is sent.
    package init(
        _ found: FolderFiles.Found,
        entityTag: String? = nil,
        contentType: String? = nil,
        cacheControl: String = "no-cache",
        headers: HTTPHeaders = [:],
        sendsModified: Bool = false
    ) {
        self.init(
            path: found.path,
            root: found.root,
            entityTag: entityTag,
            contentType: contentType ?? ContentType.of(path: found.path.string),
            cacheControl: cacheControl,
            headers: headers,
            modified: sendsModified ? Int(found.modified.components.seconds) : nil,
            size: found.size
        )
    }
}

/// A resource in use while responses are sent.
///
/// It is notified when the last of them has ended.
package final class Lease: Sendable {
    private let end: @Sendable () -> Void

    package init(whenEnded end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit { end() }
}
