package import PatchFormat

/// How a patch comes, and what that costs.
package struct TransferCost: Hashable, Sendable {
    package enum Way: Hashable, Sendable {
        /// All of it is here.
        case nothing
        /// The text of a script.
        case file
        /// By a pack from a version that is here, or by two: the second from the version that the first one makes.
        case packs(from: VersionLabel, count: Int)
        /// The pack of the whole bundle, or the rest of it.
        case wholePack
        /// The parts of that pack that hold the missing files.
        case packRanges
        /// What is missing of a bundle, one by one.
        case singleObjects
        /// A bundle of which only its manifest tells what is missing, and so how it comes.
        case open
    }

    package let way: Way
    package let size: WireSize
    /// What all of the bundle would cost where nothing of it were here; nil where that says nothing.
    package var whole: WireSize?

    package static let nothing = TransferCost(way: .nothing, size: .nothing)

    package init(way: Way, size: WireSize, whole: WireSize? = nil) {
        (self.way, self.size, self.whole) = (way, size, whole)
    }

    /// Bytes that stay away because something is here; nil where nobody can say.
    package var saved: Int? {
        guard let bytes = size.bytes, let all = whole?.bytes, all > bytes else { return nil }
        return all - bytes
    }
}

/// What is known of a bundle before any of it is fetched.
///
/// Sizes of what is here are ``WireSize/nothing``.
struct BundleFacts: Equatable {
    /// The packs that its route leads to and that a server has.
    struct Pack: Equatable {
        let base: VersionLabel
        var count = 1
        var size: WireSize
        var signatures: WireSize
    }

    var pack: Pack?
    var manifest = WireSize.nothing
    var column = WireSize.nothing
    /// The route of the missing files and its cost; nil while the manifest is unknown.
    var objects: (route: Route, size: WireSize)?
    /// Of the pack of the whole bundle.
    var whole = WireSize.unknown
    /// All of it where nothing were here.
    var all: WireSize?

    static func == (left: BundleFacts, right: BundleFacts) -> Bool {
        left.pack == right.pack && left.manifest == right.manifest && left.column == right.column
            && left.objects?.route == right.objects?.route && left.objects?.size == right.objects?.size
            && left.whole == right.whole && left.all == right.all
    }
}

extension TransferCost {
    /// Pure: whatever a device does not know of a bundle it does not guess.
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
            // At most: what is here of it is only told by its manifest.
            let most = documents + bundle.whole
            self.init(way: .open, size: most.bytes.map { .about($0) } ?? .unknown, whole: bundle.all)
            return
        }
        let way: Way =
            switch route {
            case .fullPack: .wholePack
            case .packRanges: .packRanges
            default: documents + size == .nothing ? .nothing : .singleObjects
            }
        let isPart = way == .singleObjects || way == .packRanges
        self.init(way: way, size: documents + size, whole: isPart ? bundle.all : nil)
    }
}
