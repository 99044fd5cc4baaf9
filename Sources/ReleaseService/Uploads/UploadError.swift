package import PatchFormat
import PatchServer
package import PatchStore
import PatchTrust

/// Why an upload did not go on; nothing that is served has changed.
package enum UploadError: Error, Equatable, Sendable {
    case operations(OperationError)
    /// The release says that it is for another app.
    case otherApp(AppID)
    case unknown(id: String)
    /// One of the release's own documents breaks a rule of its format.
    case malformed(FormatError)
    /// No part of this release, or here already.
    case notWanted(SHA256Digest)
    /// Somebody else sends the same bytes now.
    case inUse(SHA256Digest)
    /// The next byte that is wanted is another one.
    case wrongOffset(SHA256Digest, next: Int)
    /// More bytes came than the release says; none of what was too much was kept.
    case tooLong(SHA256Digest, size: Int)
    /// All bytes are there, and they are others; none was kept.
    case wrongBytes(SHA256Digest)
    /// What is left to send before it can be published.
    case incomplete(missing: Int)
    /// The release's contents are larger together than a server takes.
    case tooLarge(bytes: Int, limit: Int)
    /// So many uploads of this app have not been finished.
    case tooMany(limit: Int)
    case file(FileError)
    /// The sender went away; what came is kept.
    case interrupted
}
