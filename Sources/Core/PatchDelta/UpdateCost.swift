/// What an update from one version of a bundle to another costs a device, in bytes on the wire.
package struct UpdateCost: Equatable, Sendable {
    /// Of a request: its head, its answer's, and a wait in which so many would have come.
    package static let request = 3_000
    /// Of fewer objects a device never asks for the whole bundle.
    package static let leastOfWhole = 8

    package struct Otherwise: Equatable, Sendable {
        package let bytes: Int
        /// Whether contents come in the pack of the whole bundle.
        package let isWhole: Bool
    }

    package let pack: Int
    /// What comes beside it: of the signature column, what the base's does not have; or the column.
    package let signatures: Int
    /// Without a pack: manifest, column, and the objects that are missing, one by one or in the pack of the whole bundle.
    package let otherwise: Int

    package init(pack: Int, signatures: Int, otherwise: Int) {
        (self.pack, self.signatures, self.otherwise) = (pack, signatures, otherwise)
    }

    package var isWorthIt: Bool { pack + signatures + 2 * Self.request < otherwise }

    /// Smaller packs are always kept.
    package static let smallPack = 65_536
    /// A larger pack is kept only if it saves at least this percentage of an update without it.
    package static let leastSaving = 10

    /// How much of an update without the pack it saves, in percent.
    package var saving: Int {
        guard otherwise > 0 else { return 0 }
        return Int(Double(max(0, otherwise - pack - signatures)) / Double(otherwise) * 100)
    }

    /// Whether the pack saves enough for the room that it takes on the server's disk.
    package var isWorthItsRoom: Bool { pack <= Self.smallPack || saving >= Self.leastSaving }

    /// - Parameters:
    ///   - objects: of each object that is missing.
    ///   - whole: of the pack of the whole bundle.
    package static func otherwise(manifest: Int, column: Int, objects: [Int], whole: Int) -> Otherwise {
        let single = objects.reduce(0) { $0 + $1 + request }
        let isWhole = objects.count >= leastOfWhole && whole + request < single
        let contents = isWhole ? whole + request : single
        return Otherwise(bytes: manifest + column + 2 * request + contents, isWhole: isWhole)
    }
}
