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
        let single = bytes * 27 + count * 3_000 * 100
        let pack = packBytes * 27
        self = count >= Self.leastOfPack && pack > 0 && pack < single ? .wholePack : .singleObjects
    }
}
