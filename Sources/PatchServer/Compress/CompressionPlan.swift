import PatchCompression
import PatchFormat
import ReleaseTree

/// The compressed forms to make, and how thoroughly.
struct CompressionPlan: Sendable {
    /// The bytes of a file of the tree: one source after the other.
    struct Item: Sendable {
        enum Source: Sendable {
            case bytes([UInt8])
            case object(SHA256Digest)
        }

        let file: TreePath.File
        let sources: [Source]
        /// Of all sources, in bytes.
        let size: Int
    }

    /// One form of one file.
    struct Job: Sendable {
        let item: Item
        let format: CompressionFormat

        var form: TreePath.File { .compressed(item.file, format) }
    }

    /// Fewer bytes than this are not worth a form.
    static let least = 128

    /// The largest first, so that no core waits long for the last one.
    let jobs: [Job]
    let effort: Compressor.Effort

    /// - Parameter items: those without a form; the others have theirs.
    init(_ items: [Item]) {
        let worth = items.filter { $0.size >= Self.least }
        jobs =
            worth
            .sorted { ($1.size, $0.file.sortedName) < ($0.size, $1.file.sortedName) }
            .flatMap { item in CompressionFormat.allCases.map { Job(item: item, format: $0) } }
        effort = Self.effort(for: worth.reduce(0) { $0 + $1.size })
    }

    /// The most that a publisher waits for: a minute or two of one core, whatever the release weighs.
    ///
    /// Level 19 takes half a second of one core a megabyte, level 12 a tenth of that, level 3 a hundredth.
    static func effort(for bytes: Int) -> Compressor.Effort {
        switch bytes {
        case ...200_000_000: .most
        case ...2_000_000_000: .thorough
        default: .quick
        }
    }

    /// Of a release: every target and object that it brings, and the pack of every bundle.
    ///
    /// - Parameter isThere: whether the tree had a file before: then it has its forms, or is not worth one.
    init<Failure>(
        of release: OfferedContents,
        isThere: (TreePath.File) throws(Failure) -> Bool
    ) throws(Failure) {
        var items: [Item] = []
        for (file, bytes) in release.targets where try !isThere(file) {
            items.append(Item(file: file, sources: [.bytes(bytes)], size: bytes.count))
        }
        for (digest, size) in release.objects where try !isThere(.object(digest)) {
            items.append(Item(file: .object(digest), sources: [.object(digest)], size: size))
        }
        for bundle in release.bundles where try !isThere(bundle.manifest) {
            let size = bundle.objects.reduce(0) { $0 + $1.size }
            let sources = bundle.objects.map { Item.Source.object($0.sha256) }
            items.append(Item(file: .pack(bundle.digest), sources: sources, size: size))
        }
        self.init(items)
    }
}

/// What a release brings, as far as its compressed forms are concerned.
struct OfferedContents: Sendable {
    struct Bundle: Sendable {
        let manifest: TreePath.File
        let digest: SHA256Digest
        /// In the manifest's order.
        let objects: [Fingerprint]
    }

    let targets: [(TreePath.File, [UInt8])]
    /// With its size.
    let objects: [SHA256Digest: Int]
    let bundles: [Bundle]
}

extension TreePath.File {
    /// So that the same release is always compressed in the same order.
    fileprivate var sortedName: String {
        switch self {
        case .object(let digest), .pack(let digest), .target(_, let digest): digest.hex
        case .timestamp, .root, .role, .compressed: ""
        }
    }
}
