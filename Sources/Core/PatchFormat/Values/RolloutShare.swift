/// A share of all devices, in devices of 10,000.
///
/// Its text form is `25%`, `0.5%` or `12.34%`.
package struct RolloutShare: Hashable, Sendable, LosslessStringConvertible {
    package static let rule = "must be a share from 0% to 100% with at most two decimals"

    package let tenThousandths: Int

    package init(_ tenThousandths: Int) {
        self.tenThousandths = tenThousandths
    }

    package init?(_ text: String) {
        guard text.last == "%" else { return nil }
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isDigit) }),
            let whole = Int(parts[0]), whole <= 100, parts.count == 1 || parts[1].utf8.count <= 2
        else { return nil }
        let decimals = parts.count == 1 ? "00" : (String(parts[1]) + "0").prefix(2)
        let share = whole * 100 + (Int(decimals) ?? 0)
        guard share <= 10_000 else { return nil }
        tenThousandths = share
    }

    package var description: String {
        let (whole, rest) = tenThousandths.quotientAndRemainder(dividingBy: 100)
        guard rest > 0 else { return "\(whole)%" }
        return rest.isMultiple(of: 10) ? "\(whole).\(rest / 10)%" : "\(whole).\(rest / 10)\(rest % 10)%"
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// The error for a text that is not a share.
///
/// It suggests the share that was probably meant.
package struct RolloutShareMisread: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    /// A number without a per cent sign may be a percentage.
    ///
    /// A number of at most 1 may also be a fraction.
    init(_ text: String) {
        let plain = text.filter { !" \"'".contains($0) }
        guard let meant = RolloutShare(plain + "%") else {
            description = "\(text) \(RolloutShare.rule)"
            return
        }
        let part = meant.tenThousandths * 100
        let isPart = plain.contains(".") && (1...10_000).contains(part)
        description =
            "\(text) is not a share: write \(meant)" + (isPart ? " or \(RolloutShare(part))" : "")
    }
}

extension RolloutShare {
    /// Parses a share, with or without spaces: `50%`, `50 %`.
    package init(written text: String) throws(RolloutShareMisread) {
        guard let share = RolloutShare(text.filter { $0 != " " }) else { throw RolloutShareMisread(text) }
        self = share
    }
}
