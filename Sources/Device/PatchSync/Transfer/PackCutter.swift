import PatchFormat

/// A bundle's whole pack, and what of it is wanted.
struct WholePack: Sendable {
    /// A row of the bundle's manifest.
    struct Wanted: Equatable, Sendable {
        let row: Int
        /// In ``MissingObjects``.
        let position: Int
    }

    /// Which of the patches it is of.
    let bundle: Int
    let manifest: SHA256Digest
    let layout: FullPack
    /// In the order of their rows.
    let wanted: [Wanted]
    /// The only bytes of the plain pack that are asked for; nil for the pack from its first byte.
    var range: Range<Int>?

    /// Below `/APP/`.
    var path: String { URLLayout.fullPack(of: manifest) }

    /// In bytes, as it is.
    var size: Int { layout.offsets.last ?? 0 }
}

/// Cuts the bytes of a pack, as they come, into those of the rows that are wanted.
///
/// Pure. What belongs to other rows is passed over.
struct PackCutter {
    /// The next bytes of one row.
    struct Cut: Equatable, Sendable {
        let position: Int
        let bytes: [UInt8]
        /// Whether the row is whole with them.
        let isLast: Bool
    }

    private let pack: WholePack
    /// The next byte of the pack.
    private(set) var received: Int
    /// In `pack.wanted`.
    private var next = 0

    /// Whether every row that is wanted was cut.
    var isDone: Bool { next == pack.wanted.count }

    init(_ pack: WholePack) {
        self.pack = pack
        received = pack.range?.lowerBound ?? 0
    }

    mutating func cut(_ piece: [UInt8]) -> [Cut] {
        var cuts: [Cut] = []
        let end = received + piece.count
        while next < pack.wanted.count, case let wanted = pack.wanted[next] {
            let row = pack.layout.bytes(of: wanted.row..<wanted.row + 1)
            let range = row.clamped(to: received..<end)
            let isLast = row.upperBound <= end
            guard isLast || !range.isEmpty else { break }
            let bytes = Array(piece[range.lowerBound - received..<range.upperBound - received])
            cuts.append(Cut(position: wanted.position, bytes: bytes, isLast: isLast))
            guard isLast else { break }
            next += 1
        }
        received = end
        return cuts
    }
}
