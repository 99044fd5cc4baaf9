package import PatchChoice
package import PatchFormat

/// Which devices there are: kinds of them, each with its share.
package struct Fleet: Equatable, Sendable {
    /// Devices that are equal in everything but their secret ids.
    package struct Kind: Equatable, Sendable {
        /// Of all devices, of 10,000.
        package var share: Int
        package var appVersion: AppVersion?
        package var user: UserID?
        package var data: [ConditionKey: ConditionValue] = [:]
        package var platform: Platform?
        package var consent = Consent.automatic
        package var installed: [PatchID: VersionLabel] = [:]

        package init(share: Int) { self.share = share }
    }

    package let kinds: [Kind]

    /// - Parameter kinds: their shares are the whole together.
    package init(_ kinds: [Kind]) { self.kinds = kinds }

    /// Devices that were told nothing, and have nothing.
    package static let new = Fleet([Kind(share: 10_000)])

    /// How many of so many devices are of each kind: whole ones, the largest remainders rounded up.
    func counts(of devices: Int) -> [Int] {
        let exact = kinds.map { (devices * $0.share).quotientAndRemainder(dividingBy: 10_000) }
        var counts = exact.map(\.quotient)
        let rest = devices - counts.reduce(0, +)
        let largest = exact.indices.sorted { (exact[$1].remainder, $0) < (exact[$0].remainder, $1) }
        for index in largest.prefix(rest) { counts[index] += 1 }
        return counts
    }
}

/// What is wrong with a fleet's file: where, which key, which rule.
package struct FleetError: Error, Equatable, Sendable, CustomStringConvertible {
    package let file: String
    package let line: Int?
    /// `devices[0].share`; empty for the file as a whole.
    package let key: String
    package let rule: String

    package var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return key.isEmpty ? "\(place): \(rule)" : "\(place): \(key) \(rule)"
    }
}
