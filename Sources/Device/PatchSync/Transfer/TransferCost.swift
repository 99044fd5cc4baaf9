package import PatchFormat

/// The way in which a patch is downloaded, and its cost.
package struct TransferCost: Hashable, Sendable {
    package enum Way: Hashable, Sendable {
        /// All files are stored.
        case nothing
        /// The text of a script.
        case file
        /// One pack from a stored version, or two packs, of which the second leads on from the first one's result.
        case packs(from: VersionLabel, count: Int)
        /// The pack of the whole bundle, or the rest of it.
        case wholePack
        /// The parts of that pack that contain the missing files.
        case packRanges
        /// The missing files of a bundle, one by one.
        case singleObjects
        /// The way is not decided yet: only the bundle's manifest determines which files are missing.
        case open
    }

    package let way: Way
    package let size: WireSize
    /// The cost of a full download, or nil if unknown.
    package var whole: WireSize?

    package static let nothing = TransferCost(way: .nothing, size: .nothing)

    package init(way: Way, size: WireSize, whole: WireSize? = nil) {
        (self.way, self.size, self.whole) = (way, size, whole)
    }

    /// The bytes saved by files that are already stored, or nil if unknown.
    package var saved: Int? {
        guard let bytes = size.bytes, let all = whole?.bytes, all > bytes else { return nil }
        return all - bytes
    }
}

/// The facts about a bundle before any of its files is downloaded.
///
/// The sizes of stored files are ``WireSize/nothing``.
struct BundleFacts: Equatable {
    /// The packs of its route, which a server has.
    struct Pack: Equatable {
        let base: VersionLabel
        var count = 1
        var size: WireSize
        var signatures: WireSize
    }

    var pack: Pack?
    var manifest = WireSize.nothing
    var column = WireSize.nothing
    /// The route of the missing files and its cost, or nil while the manifest is unknown.
    var objects: (route: FilesRoute, size: WireSize)?
    /// The size of the pack of the whole bundle.
    var whole = WireSize.unknown
    /// The cost of a full download.
    var all: WireSize?

    static func == (left: BundleFacts, right: BundleFacts) -> Bool {
        left.pack == right.pack && left.manifest == right.manifest && left.column == right.column
            && left.objects?.route == right.objects?.route && left.objects?.size == right.objects?.size
            && left.whole == right.whole && left.all == right.all
    }
}

extension TransferCost {
    /// A pure function.
    ///
    /// Unknown sizes are not guessed.
    init(of bundle: BundleFacts) {
        if let pack = bundle.pack {
            self.init(
                way: .packs(from: pack.base, count: pack.count),
                size: pack.size + pack.signatures,
                whole: bundle.all
            )
            return
        }
        let documents = bundle.manifest + bundle.column
        guard let (route, size) = bundle.objects else {
            // This is the maximum, because only the manifest determines which files are already stored.
            let most = documents + bundle.whole
            self.init(way: .open, size: most.bytes.map { .about($0) } ?? .unknown, whole: bundle.all)
            return
        }
        let way: Way =
            switch route {
            case .fullPack: .wholePack
            case .packRanges: .packRanges
            case .objects: documents + size == .nothing ? .nothing : .singleObjects
            }
        let isPart = way == .singleObjects || way == .packRanges
        self.init(way: way, size: documents + size, whole: isPart ? bundle.all : nil)
    }
}
