import PatchDelta

/// How what is missing of a bundle is asked for: the one that costs less.
///
/// Pure, and an estimate: what each form of a file costs is known only once it came. Of three real applications 27 % of the
/// bytes are left, compressed one by one or as a whole; a request costs its head, its answer's, and a wait in which three
/// kilobytes would have come.
enum TransferChoice: Equatable, Sendable {
    /// The whole pack in one request, also with what is here already.
    case wholePack
    /// What is missing, one by one.
    case singleObjects

    /// Fewer objects come one by one, whatever they cost.
    static let leastOfPack = 8

    /// - Parameters:
    ///   - count: objects that are missing.
    ///   - bytes: of these.
    ///   - packBytes: of all of the bundle's rows.
    init(missing count: Int, bytes: Int, of packBytes: Int) {
        // In hundredths of a byte.
        let single = bytes * Self.percent + count * Self.request * 100
        let pack = packBytes * Self.percent
        self = count >= Self.leastOfPack && pack > 0 && pack < single ? .wholePack : .singleObjects
    }

    /// What a request costs, in bytes.
    static let request = UpdateCost.request

    /// What is left of a file.
    private static let percent = 27

    /// What travels of so many bytes, about.
    static func estimate(ofDocument bytes: Int) -> Int { bytes / 100 * percent + bytes % 100 * percent / 100 }

    /// What travels of a bundle that does not come by a pack from a base, about: its manifest, its signatures, which do not
    /// shrink, and what is missing.
    static func estimate(_ missing: (count: Int, bytes: Int), of bundle: Int, manifest: Int, column: Int) -> Int {
        let objects =
            switch TransferChoice(missing: missing.count, bytes: missing.bytes, of: bundle) {
            case .wholePack: bundle
            case .singleObjects: missing.bytes
            }
        return (manifest + objects) * percent / 100 + column
    }
}
