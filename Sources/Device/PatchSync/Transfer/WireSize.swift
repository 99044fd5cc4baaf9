import PatchDelta

/// The number of bytes to transfer, as far as it is known.
package struct WireSize: Hashable, Sendable {
    /// The number of bytes, or nil if unknown.
    package let bytes: Int?
    /// Whether a server announced this size.
    package let isExact: Bool

    package static let nothing = WireSize.exactly(0)
    package static let unknown = WireSize(bytes: nil, isExact: false)

    package static func exactly(_ bytes: Int) -> WireSize { WireSize(bytes: bytes, isExact: true) }
    package static func about(_ bytes: Int) -> WireSize { WireSize(bytes: bytes, isExact: false) }

    /// A sum is exact only if both parts are.
    package static func + (left: WireSize, right: WireSize) -> WireSize {
        guard let first = left.bytes, let second = right.bytes else { return .unknown }
        let (sum, isTooMuch) = first.addingReportingOverflow(second)
        return isTooMuch ? .unknown : WireSize(bytes: sum, isExact: left.isExact && right.isExact)
    }

    /// The size without the received bytes.
    ///
    /// It is an estimate, because the server need not continue there.
    func without(_ received: Int) -> WireSize {
        guard received > 0, let bytes else { return self }
        return .about(max(0, bytes - received))
    }
}

/// Estimates of bytes on the wire.
extension WireSize {
    /// The cost of a request in bytes: its head, the answer's head, and a wait in which three kilobytes could have arrived.
    static let request = UpdateCost.request

    /// The transferred share of a file's bytes, in percent.
    private static let percent = 27

    /// The estimated transferred bytes of a document.
    static func estimate(ofDocument bytes: Int) -> Int { bytes / 100 * percent + bytes % 100 * percent / 100 }
}
