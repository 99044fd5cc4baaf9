package import PatchFormat
import PatchStore
package import PatchCrypto
package import PatchTrust
package import SystemPackage

/// What passes between `patchsign` and `patchsrv`: a signed state of one channel, as a folder.
///
/// ```
/// release.json                 what it is for and what it was made from
/// role.json                    the channel's TUF role; its signatures may be incomplete
/// targets/TARGETPATH           every target the role names: list, manifests, signature columns
/// objects/ab/<sha256>          scripts, assets and packages
/// ```
///
/// Read but not verified: ``VerifiedRelease`` does that.
package struct SignedRelease: Sendable {
    package let header: ReleaseHeader
    package private(set) var role: Envelope
    /// Every target that the role names.
    package let targets: [TargetPath: [UInt8]]
    /// Where each object's bytes lie now.
    ///
    /// An object that the channel already has may be left out.
    package let objects: [SHA256Digest: FilePath]
    /// Objects that were made with the release, and lie nowhere yet.
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

    /// - Parameter scheme: what the role's key says; nil for what Patchline writes for a key of this kind.
    package mutating func sign(
        with key: PrivateKey,
        id: SHA256Digest,
        scheme: SignatureScheme? = nil
    ) throws(KeyError) {
        try role.sign(with: key, id: id, scheme: scheme)
    }

    /// Takes over signatures that other key holders made over the same bytes.
    package mutating func merge(_ signatures: [Envelope.Signature]) {
        for signature in signatures { role.add(signature) }
    }
}
