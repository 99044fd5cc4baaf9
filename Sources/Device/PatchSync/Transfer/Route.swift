import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto

/// A way of transferring bytes to this device.
///
/// One pure function chooses it: ``init(_:)``.
///
/// The answers to three questions are routes. A sync asks each question again when it knows more.
///
/// | question | routes |
/// |---|---|
/// | How does a new bundle begin? | ``pack(from:listed:)``, ``index``, ``chain(_:through:)``, ``documents`` |
/// | How are the missing files of a verified bundle downloaded? | ``fullPack``, ``packRanges``, ``objects`` |
/// | In which form does one server send a file or a pack? | ``compressed``, ``plain``, ``signedPack``, ``plainPack`` |
///
/// Files that are stored or embedded are not transferred.
enum Route: Equatable, Sendable {
    /// A pack from a stored version. `listed` is the index's row of it, if the index lists it.
    case pack(from: SHA256Digest, listed: PackIndex.Pack? = nil)
    /// The servers' index of packs, which may list another pack or a chain.
    case index
    /// Two packs in a row. The first produces an intermediate version, which is stored separately, and the second leads on from it.
    case chain(PackIndex.Pack, through: PackIndex.Row)
    /// The manifest and its signatures first. They determine which files are missing.
    case documents

    /// One request for the pack of all files, up to the last missing one, or for the rest of an interrupted pack.
    case fullPack
    /// One request for each part of the plain pack that contains missing files.
    case packRanges
    /// One request for each missing file.
    case objects

    /// A file in a compressed form, if the server has one.
    case compressed
    /// The plain file.
    case plain
    /// A pack with the signatures of its new entries in front.
    case signedPack
    /// A pack without signatures.
    case plainPack

    init(_ facts: RouteFacts) {
        switch facts {
        case .version(let version):
            if let base = version.nextBase {
                self = .pack(from: base.patch.fingerprint.sha256)
            } else if !version.mayFollowIndex {
                self = .documents
            } else {
                self = version.packs?.cheapest ?? .index
            }
        case .files(let rows, let weights, let pack, let hasServer):
            self = hasServer ? TransferCosts(missing: rows, of: weights, knowing: pack).cheapest : .objects
        case .part(let files, let bytes, let hasServer):
            // A single file may be available in a compressed form, so it is requested alone.
            self = hasServer && files > 1 && bytes > 0 ? .packRanges : .objects
        case .file(let isPlainOnly):
            self = isPlainOnly ? .plain : .compressed
        case .packForm(let wantsSignatures, let lacksSigned):
            self = wantsSignatures && !lacksSigned ? .signedPack : .plainPack
        }
    }
}

/// The facts that determine a ``Route``.
enum RouteFacts {
    /// A new bundle.
    case version(NewVersion)
    /// The missing files of a bundle, by their rows in its manifest.
    ///
    /// - Parameters:
    ///   - pack: The facts of an earlier request for its full pack.
    ///   - hasServer: Whether a server is left that may have this pack.
    case files(missing: [Int], of: PackWeights, pack: PackFacts?, hasServer: Bool)
    /// A part of a plain pack that contains so many missing files.
    case part(files: Int, bytes: Int, hasServer: Bool)
    /// A file from a server whose compressed form of it may have been wrong.
    case file(isPlainOnly: Bool)
    /// A pack from a server that may not have it together with its signatures.
    case packForm(wantsSignatures: Bool, lacksSigned: Bool)
}
