/// How long to wait before a failed request is made again.
///
/// 0.5 s, 1 s, 2 s and on to a minute, ±25 % so that many builds do not come back in one moment; what the server asks for
/// (`Retry-After`) where that is longer, and up to a quarter more.
package struct ServiceWait: Equatable, Sendable {
    package static let longest = 60.0
    /// In seconds; a server that asks for more is told about, not waited for.
    package static let mostAsked = 300

    package let duration: Duration

    /// - Parameters:
    ///   - failures: in a row, at least 1.
    ///   - random: from 0 up to, not including, 1.
    /// - Returns: nil where the server asks for more patience than there is.
    package init?(failures: Int, asked: Int?, random: Double) {
        precondition(failures >= 1 && (0..<1).contains(random))
        if let asked, asked > Self.mostAsked { return nil }
        let own = min(Self.longest, 0.5 * Double(1 << min(failures - 1, 16))) * (0.75 + random / 2)
        let wanted = Double(asked ?? 0) * (1 + random / 4)
        duration = .milliseconds(Int((max(own, wanted) * 1_000).rounded()))
    }
}
