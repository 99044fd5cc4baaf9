package import Linux
package import NIOHTTP1
package import SystemPackage

/// A file that answers a request, as the source expects it; the server opens it and sends the real one.
package struct ServedFile: Sendable {
    /// Opened once for each answer; a symlink as the last name is never followed.
    package let path: FilePath
    /// If set, `path` is below this folder and opened from it name by name, so that no symlink between the two is
    /// followed either, even one that appeared after the source's check.
    package let root: FilePath?
    /// 200, or an error whose page this is: then conditions and ranges do not apply, and no tag is sent.
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
    /// The size that the file must have; another size on disk is answered 500 and logged, never sent.
    package let size: Int?
    /// The identity that the file must have; another file, or one written since, is answered 503 and logged, never
    /// sent.
    package let identity: FileIdentity?
    /// The file that says that this one answers; nil where its name alone does.
    ///
    /// A remembered answer is true for as long as that one, too, stays what it is.
    package var reason: FileOrigin?

    /// - Precondition: `entityTag` holds only visible characters other than `"` (RFC 9110 §8.8.3).
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

    /// A file that ``FolderFiles`` found, with the size it had then and the type of its name.
    ///
    /// - Parameter sendsModified: whether its last modification is sent.
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

/// Something in use while a response is being sent; it is notified when the last one has ended.
package final class Lease: Sendable {
    private let end: @Sendable () -> Void

    package init(whenEnded end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit { end() }
}
