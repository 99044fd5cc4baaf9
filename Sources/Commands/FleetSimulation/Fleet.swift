package import PatchChoice
package import PatchFormat

/// The simulated devices, in kinds with a share each.
package struct Fleet: Equatable, Sendable {
    /// Devices that differ only in their secret ids.
    package struct Kind: Equatable, Sendable {
        /// The share of all devices, in 1/10,000.
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

    /// - Parameter kinds: Their shares must add up to 10,000.
    package init(_ kinds: [Kind]) { self.kinds = kinds }

    /// Devices without any settings or installed versions.
    package static let new = Fleet([Kind(share: 10_000)])

    /// Distributes a number of devices to the kinds, in whole devices.
    ///
    /// The largest remainders are rounded up.
    func counts(of devices: Int) -> [Int] {
        let exact = kinds.map { (devices * $0.share).quotientAndRemainder(dividingBy: 10_000) }
        var counts = exact.map(\.quotient)
        let rest = devices - counts.reduce(0, +)
        let largest = exact.indices.sorted { (exact[$1].remainder, $0) < (exact[$0].remainder, $1) }
        for index in largest.prefix(rest) { counts[index] += 1 }
        return counts
    }
}

/// An error in a fleet's file: its place, its key, and the violated rule.
package struct FleetError: Error, Equatable, Sendable, CustomStringConvertible {
    package let file: String
    package let line: Int?
    /// `devices[0].share`, or empty for the file as a whole.
    package let key: String
    package let rule: String

    package var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return key.isEmpty ? "\(place): \(rule)" : "\(place): \(key) \(rule)"
    }
}
