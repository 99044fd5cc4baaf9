/// How what is missing of a bundle is asked for: the one that costs less.
///
/// Pure, and an estimate: what each form of a file costs is known only once it came. A script or page that is compressed by
/// itself has some 30 % of its bytes, the whole of a bundle in one stream some 27 %; a request costs its head, its answer's,
/// and a wait in which four kilobytes would have come.
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
        let single = bytes * 30 + count * 4_000 * 100
        let pack = packBytes * 27
        self = count >= Self.leastOfPack && pack > 0 && pack < single ? .wholePack : .singleObjects
    }
}
