import PatchFormat

/// A bundle's whole pack, and the rows of it that are wanted.
struct WholePack: Sendable {
    /// A row of the bundle's manifest.
    struct Wanted: Equatable, Sendable {
        let row: Int
        /// The position in ``MissingObjects``.
        let position: Int
    }

    /// The index of the bundle among the patches.
    let bundle: Int
    let manifest: SHA256Digest
    let layout: FullPack
    /// The wanted rows, in ascending order.
    let wanted: [Wanted]
    /// The only bytes of the plain pack that are requested, or nil for the pack from its first byte.
    var range: Range<Int>?

    /// The path below `/APP/`.
    var path: String { URLLayout.fullPack(of: manifest) }

    /// The size of the plain pack in bytes.
    var size: Int { layout.offsets.last ?? 0 }
}

/// Cuts the bytes of a pack, as they arrive, into those of the wanted rows.
///
/// A pure value. Bytes of other rows are skipped.
struct PackCutter {
    /// The next bytes of one row.
    struct Cut: Equatable, Sendable {
        let position: Int
        let bytes: [UInt8]
        /// Whether these bytes complete the row.
        let isLast: Bool
    }

    private let pack: WholePack
    /// The position of the next byte of the pack.
    private(set) var received: Int
    /// The index of the next row in `pack.wanted`.
    private var next = 0

    /// Whether every wanted row was cut.
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
