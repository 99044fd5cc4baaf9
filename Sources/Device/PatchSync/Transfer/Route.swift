import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto

/// A way in which bytes travel to this device.
///
/// One function chooses it: ``init(_:)``. It is pure.
///
/// Three questions have a route as their answer. A sync asks each of them again when it knows more.
///
/// | question | routes |
/// |---|---|
/// | How does a new bundle begin? | ``pack(from:listed:)``, ``index``, ``chain(_:through:)``, ``documents`` |
/// | How do the missing files of a verified bundle travel? | ``fullPack``, ``packRanges``, ``objects`` |
/// | In which form does one server send a file or a pack? | ``compressed``, ``plain``, ``signedPack``, ``plainPack`` |
///
/// Files that are stored here or embedded in the app do not travel.
enum Route: Equatable, Sendable {
    /// A pack from a version that is here. `listed` is the index's row of it, if the index named it.
    case pack(from: SHA256Digest, listed: PackIndex.Pack? = nil)
    /// The servers' index of packs. It may name another pack, or a chain.
    case index
    /// Two packs in a row: the first makes an intermediate version, which is kept apart, and the second leads on from it.
    case chain(PackIndex.Pack, through: PackIndex.Row)
    /// The manifest and its signatures first. They show which files are missing.
    case documents

    /// One request for the pack of all files, up to the last missing one, or for the rest of a pack that broke off.
    case fullPack
    /// One request for each part of the plain pack that contains missing files.
    case packRanges
    /// One request for each missing file.
    case objects

    /// A file in a compressed form, if the server has one.
    case compressed
    /// A file as it is.
    case plain
    /// A pack with the signatures of its new entries before it.
    case signedPack
    /// A pack alone.
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
            // One file by itself may come in a compressed form.
            self = hasServer && files > 1 && bytes > 0 ? .packRanges : .objects
        case .file(let isPlainOnly):
            self = isPlainOnly ? .plain : .compressed
        case .packForm(let wantsSignatures, let lacksSigned):
            self = wantsSignatures && !lacksSigned ? .signedPack : .plainPack
        }
    }
}

/// The facts that a ``Route`` is chosen by.
enum RouteFacts {
    /// A new bundle.
    case version(NewVersion)
    /// The missing files of a bundle, by their rows in its manifest.
    ///
    /// - Parameters:
    ///   - pack: the facts of an earlier request for its full pack.
    ///   - hasServer: whether a server is left that may have this pack.
    case files(missing: [Int], of: PackWeights, pack: PackFacts?, hasServer: Bool)
    /// A part of a plain pack that contains so many missing files.
    case part(files: Int, bytes: Int, hasServer: Bool)
    /// A file from a server, whose compressed form of it may have been wrong.
    case file(isPlainOnly: Bool)
    /// A pack from a server, which may have no signed form of it.
    case packForm(wantsSignatures: Bool, lacksSigned: Bool)
}
