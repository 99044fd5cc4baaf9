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
    /// No part of this release, or here already.
    case notWanted(SHA256Digest)
    /// The same bytes are being sent by another client now.
    case inUse(SHA256Digest)
    /// The next byte to send is another one.
    case wrongOffset(SHA256Digest, next: Int)
    /// More bytes came than the release's size; none beyond it was kept.
    case tooLong(SHA256Digest, size: Int)
    /// They came in a compressed form that is none; what came out before it broke is kept.
    case badForm(SHA256Digest, CompressionError)
    /// What came does not make this manifest; none was kept.
    case badPack(SHA256Digest, PackError)
    /// The tree has no such version to make it of.
    case noBase(SHA256Digest)
    /// All bytes are there, and their digest is wrong; none was kept.
    case wrongBytes(SHA256Digest)
    /// The parts still to be sent before it can be published.
    case incomplete(missing: Int)
    /// The release's contents together exceed the server's limit.
    case tooLarge(bytes: Int, limit: Int)
    /// This many uploads of the app are unfinished.
    case tooMany(limit: Int)
    case file(FileError)
    /// The sender went away; received bytes are kept.
    case interrupted
}
