import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto

// Two questions about the transfer of bytes to this device. Each has its own routes, and one pure function that chooses. A sync asks
// each question again when it knows more. Files that are stored or embedded are not transferred.

/// How a new bundle begins.
enum BundleRoute: Equatable, Sendable {
    /// A pack from a stored version, requested by its name.
    case pack(from: SHA256Digest)
    /// A pack that the servers' index lists.
    case listed(PackIndex.Pack)
    /// The servers' index of packs, which may list another pack or a chain.
    case index
    /// Two packs in a row. The first produces an intermediate version, which is stored separately, and the second leads on from it.
    case chain(PackIndex.Pack, through: PackIndex.Row)
    /// The manifest and its signatures first. They determine which files are missing.
    case documents

    init(_ version: NewVersion) {
        if let base = version.nextBase {
            self = .pack(from: base.patch.fingerprint.sha256)
        } else if !version.mayFollowIndex {
            self = .documents
        } else {
            self = version.packs?.cheapest ?? .index
        }
    }
}

/// How the missing files of a verified bundle are downloaded.
enum FilesRoute: Equatable, Sendable {
    /// One request for the pack of all files, up to the last missing one, or for the rest of an interrupted pack.
    case fullPack
    /// One request for each part of the plain pack that contains missing files.
    case packRanges
    /// One request for each missing file.
    case objects

    /// - Parameters:
    ///   - rows: The rows of the missing files in the bundle's manifest.
    ///   - facts: The facts of an earlier request for the bundle's full pack.
    ///   - hasServer: Whether a server is left that may have this pack.
    init(missing rows: [Int], of weights: PackWeights, knowing facts: PackFacts?, hasServer: Bool) {
        self = hasServer ? TransferCosts(missing: rows, of: weights, knowing: facts).cheapest : .objects
    }
}

extension PackRun {
    /// Whether the missing files of this part of a plain pack are downloaded by one request for the part.
    ///
    /// A single file may be available in a compressed form, so it is requested alone.
    ///
    /// - Parameter hasServer: Whether a server is left that may have the pack.
    func isRequested(hasServer: Bool) -> Bool { hasServer && positions.count > 1 && !bytes.isEmpty }
}
