import PatchFormat
import PatchCrypto
import PatchTrust
import ReleaseFolder

/// The number of entry signatures made, and of those kept from the base.
package struct SignatureCounts: Equatable, Sendable {
    package var made = 0
    package var kept = 0

    package init(made: Int = 0, kept: Int = 0) {
        self.made = made
        self.kept = kept
    }
}

/// Signs many statements with an entry key, or keeps the signatures that it made.
struct EntrySigning: Sendable {
    /// A statement, and a signature that this key may have made before.
    struct Job: Sendable {
        let statement: [UInt8]
        let known: [UInt8]?
    }

    struct Signed: Sendable {
        let bytes: [UInt8]
        let isNew: Bool
    }

    /// How a statement without a valid signature is treated.
    private enum Others: Sendable {
        case signed(by: SigningKey)
        case refused(SigningError)
    }

    let publicKey: PublicKey
    let keyID: SHA256Digest
    private let others: Others

    init(_ signer: SigningKey) {
        (publicKey, keyID) = (signer.publicKey, EntryKeys.id(of: signer.publicKey))
        others = .signed(by: signer)
    }

    /// - Parameter missing: The error for a statement that `key` has not signed.
    init(keeping key: PublicKey, orElse missing: SigningError) {
        (publicKey, keyID) = (key, EntryKeys.id(of: key))
        others = .refused(missing)
    }

    private var isQuick: Bool {
        switch others {
        case .signed(let signer): signer.isQuick
        case .refused: true
        }
    }

    /// Returns the signatures in the order of the jobs.
    ///
    /// A known one is kept only if it is valid.
    func sign(_ jobs: [Job], progress: ProgressStart) async throws(SigningError) -> [Signed] {
        let (publicKey, others) = (publicKey, others)
        return try await mapOnAllCores(jobs, chunk: isQuick ? 16 : 1, progress: progress) {
            (job) throws(SigningError) in
            if let known = job.known,
                publicKey.verifies(known, over: job.statement, scheme: .rsaPKCS1v15)
            {
                return Signed(bytes: known, isNew: false)
            }
            switch others {
            case .signed(let signer):
                return Signed(bytes: try signer.sign(job.statement, scheme: .rsaPKCS1v15), isNew: true)
            case .refused(let missing): throw missing
            }
        }
    }
}

/// The asset signatures of a base, by patch and statement.
struct KnownAssetSignatures: Sendable {
    private struct Subject: Hashable {
        let patchID: PatchID
        let path: AssetPath
        let fingerprint: Fingerprint
    }

    private var signatures: [Subject: [UInt8]] = [:]

    /// The signatures that `key` made, of every bundle version that the base lists.
    init(_ base: BaseRelease?, by key: SHA256Digest) {
        guard let base else { return }
        for (label, manifest) in base.contents.manifests {
            let path = TargetPath.signatureColumn(
                channel: base.contents.channel,
                patchID: label.patchID,
                version: label.version
            )
            guard let bytes = base.release.targets[path],
                let column = try? SignatureColumn(bytes, assets: manifest.assets.count), column.keyID == key
            else { continue }
            for (asset, signature) in zip(manifest.assets, column.signatures) {
                signatures[Subject(patchID: label.patchID, path: asset.path, fingerprint: asset.fingerprint)] =
                    signature
            }
        }
    }

    func signature(of asset: Asset, patchID: PatchID) -> [UInt8]? {
        signatures[Subject(patchID: patchID, path: asset.path, fingerprint: asset.fingerprint)]
    }
}
