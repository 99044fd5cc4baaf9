package import PatchFormat
import PatchStore
package import PatchCrypto
package import PatchTrust
package import SystemPackage

/// A signed state of one channel, as a folder that `patchsign` and `patchsrv` exchange.
///
/// ```
/// release.json                 the app, the channel and the base
/// role.json                    the channel's TUF role; its signatures may be incomplete
/// targets/TARGETPATH           every target the role names: list, manifests, signature columns
/// objects/ab/<sha256>          scripts, assets and packages
/// ```
///
/// It is parsed but not verified: ``VerifiedRelease`` does that.
package struct SignedRelease: Sendable {
    package let header: ReleaseHeader
    package private(set) var role: Envelope
    /// Every target that the role names.
    package let targets: [TargetPath: [UInt8]]
    /// The current path of each object.
    ///
    /// Objects that the channel already has may be left out.
    package let objects: [SHA256Digest: FilePath]
    /// Objects that were made with the release and are only in memory.
    package let made: [SHA256Digest: [UInt8]]

    package init(
        header: ReleaseHeader,
        role: Envelope,
        targets: [TargetPath: [UInt8]],
        objects: [SHA256Digest: FilePath],
        made: [SHA256Digest: [UInt8]] = [:]
    ) {
        self.header = header
        self.role = role
        self.targets = targets
        self.objects = objects
        self.made = made
    }

    /// - Parameter scheme: The scheme of the role's key; nil for Patchline's default for this kind of key.
    package mutating func sign(
        with key: PrivateKey,
        id: SHA256Digest,
        scheme: SignatureScheme? = nil
    ) throws(KeyError) {
        try role.sign(with: key, id: id, scheme: scheme)
    }

    /// Adds signatures that other key holders made over the same bytes.
    package mutating func merge(_ signatures: [Envelope.Signature]) {
        for signature in signatures { role.add(signature) }
    }
}
