package import PatchCompression
package import PatchDelta
package import PatchFormat
import PatchServer
package import PatchStore
import PatchCrypto
import PatchTrust

/// Why an upload failed; the published state is unchanged.
package enum UploadError: Error, Equatable, Sendable {
    case operations(OperationError)
    /// The release is for another app.
    case otherApp(AppID)
    case unknown(id: String)
    /// One of the release's own documents breaks a rule of its format.
    case malformed(FormatError)
    /// The file is not part of this release, or is stored already.
    case notWanted(SHA256Digest)
    /// Another client is sending the same bytes now.
    case inUse(SHA256Digest)
    /// The next byte to send has another offset.
    case wrongOffset(SHA256Digest, next: Int)
    /// The client sent more bytes than the release's size; none beyond it was kept.
    case tooLong(SHA256Digest, size: Int)
    /// The compressed form is not valid; the bytes decoded before the error are kept.
    case badForm(SHA256Digest, CompressionError)
    /// The pack does not produce this manifest; nothing was kept.
    case badPack(SHA256Digest, PackError)
    /// The tree has no such base version.
    case noBase(SHA256Digest)
    /// All bytes were received, but their digest is wrong; none was kept.
    case wrongBytes(SHA256Digest)
    /// The parts still to be sent before it can be published.
    case incomplete(missing: Int)
    /// The release's contents together exceed the server's limit.
    case tooLarge(bytes: Int, limit: Int)
    /// This many uploads of the app are unfinished.
    case tooMany(limit: Int)
    case file(FileError)
    /// The sender disconnected; received bytes are kept.
    case interrupted
}
