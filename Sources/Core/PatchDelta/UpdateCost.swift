/// The cost of an update from one version of a bundle to another for a device, in transferred bytes.
package struct UpdateCost: Equatable, Sendable {
    /// The cost of a request: its header, the header of the response, and the bytes that could have been transferred during the
    /// wait.
    package static let request = 3_000
    /// For fewer objects, a device never requests the whole bundle.
    package static let leastOfWhole = 8

    package struct Alternative: Equatable, Sendable {
        package let bytes: Int
        /// Whether contents are downloaded as the pack of the whole bundle.
        package let isWhole: Bool
    }

    package let pack: Int
    /// The size of the signatures beside the pack that the base lacks, or of the signature column.
    package let signatures: Int
    /// Without a pack: manifest, column, and the missing objects, one by one or in the pack of the whole bundle.
    package let otherwise: Int

    package init(pack: Int, signatures: Int, otherwise: Int) {
        (self.pack, self.signatures, self.otherwise) = (pack, signatures, otherwise)
    }

    package var isWorthwhile: Bool { pack + signatures + 2 * Self.request < otherwise }

    /// Smaller packs are always kept.
    package static let smallPack = 65_536
    /// A larger pack is kept only if it saves at least this percentage of an update without it.
    package static let leastSaving = 10

    /// The saving in percent of an update without the pack.
    package var saving: Int {
        guard otherwise > 0 else { return 0 }
        return Int(Double(max(0, otherwise - pack - signatures)) / Double(otherwise) * 100)
    }

    /// Whether the pack saves enough for the space that it needs on the server's disk.
    package var isWorthItsSpace: Bool { pack <= Self.smallPack || saving >= Self.leastSaving }

    /// - Parameters:
    ///   - objects: the size of each missing object.
    ///   - whole: the size of the pack of the whole bundle.
    package static func otherwise(manifest: Int, column: Int, objects: [Int], whole: Int) -> Alternative {
        let single = objects.reduce(0) { $0 + $1 + request }
        let isWhole = objects.count >= leastOfWhole && whole + request < single
        let contents = isWhole ? whole + request : single
        return Alternative(bytes: manifest + column + 2 * request + contents, isWhole: isWhole)
    }
}
