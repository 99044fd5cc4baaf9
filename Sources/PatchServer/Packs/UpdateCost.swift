/// What an update from one version of a bundle to another costs a device, in bytes on the wire.
package struct UpdateCost: Equatable, Sendable {
    /// Of a request: its head, its answer's, and a wait in which so many would have come.
    static let request = 3_000
    /// Of fewer objects a device never asks for the whole bundle.
    private static let leastOfWhole = 8

    package let pack: Int
    /// What comes beside it: of the signature column, what the base's does not have; or the column.
    package let signatures: Int
    /// Without a pack: manifest, column, and the objects that are missing, one by one or in the pack of the whole bundle.
    package let otherwise: Int

    init(pack: Int, signatures: Int, otherwise: Int) {
        (self.pack, self.signatures, self.otherwise) = (pack, signatures, otherwise)
    }

    package var isWorthIt: Bool { pack + signatures + 2 * Self.request < otherwise }

    /// - Parameters:
    ///   - objects: of each object that is missing.
    ///   - whole: of the pack of the whole bundle.
    static func otherwise(manifest: Int, column: Int, objects: [Int], whole: Int) -> Int {
        let single = objects.reduce(0) { $0 + $1 + request }
        let least = objects.count < leastOfWhole ? single : min(single, whole + request)
        return manifest + column + 2 * request + least
    }
}
