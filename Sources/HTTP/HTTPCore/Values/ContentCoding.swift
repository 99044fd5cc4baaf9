package import NIOHTTP1

/// A coding of which a compressed file may be stored next to the plain one.
///
/// The best coding is first.
package enum ContentCoding: String, CaseIterable, Sendable {
    case brotli = "br"
    case zstandard = "zstd"
    case gzip

    /// The suffix that the compressed file's name adds to the plain one's.
    package var suffix: String {
        switch self {
        case .brotli: ".br"
        case .zstandard: ".zst"
        case .gzip: ".gz"
        }
    }

    /// The codings that a request accepts, by descending weight.
    ///
    /// Equal weights are in the order of the cases (RFC 9110 §12.5.3).
    ///
    /// Empty if plain bytes are preferred, or if the field is missing.
    package static func accepted(in headers: HTTPHeaders) -> [ContentCoding] {
        let wishes = headers["Accept-Encoding"].flatMap(\.listElements).compactMap(Preference.init)
        let any = wishes.last { $0.coding == "*" }?.weight ?? 0
        func weight(_ name: String) -> Int? {
            wishes.last { $0.coding == name || name == "gzip" && $0.coding == "x-gzip" }?.weight
        }
        // A coding is preferred to plain bytes of equal weight. An unnamed `identity` has the weight 0.
        let plain = weight("identity") ?? 0
        return allCases.enumerated()
            .map { (order: $0.offset, coding: $0.element, weight: weight($0.element.rawValue) ?? any) }
            .filter { $0.weight > 0 && $0.weight >= plain }
            .sorted { ($1.weight, $0.order) < ($0.weight, $1.order) }
            .map(\.coding)
    }

    /// One element of the field, as `gzip;q=0.5`.
    private struct Preference {
        let coding: String
        /// The weight, from 0 to 1000.
        let weight: Int

        init?(_ element: String) {
            let parts = element.split(separator: ";", omittingEmptySubsequences: false).map {
                $0.filter { $0 != " " && $0 != "\t" }.lowercased()
            }
            coding = parts[0]
            guard parts.count > 1 else {
                weight = 1000
                return
            }
            guard parts.count == 2, parts[1].hasPrefix("q="), let weight = Self.weight(parts[1].dropFirst(2)) else {
                return nil
            }
            self.weight = weight
        }

        /// `1`, `0.25`: at most three digits after the point (§12.4.2).
        private static func weight(_ text: Substring) -> Int? {
            let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            let decimals = parts.count > 1 ? parts[1] : ""
            guard parts[0] == "0" || parts[0] == "1", decimals.utf8.count <= 3, decimals.utf8.allSatisfy(\.isDigit)
            else { return nil }
            let value =
                (Int(parts[0]) ?? 0) * 1000
                + (Int(decimals + String(repeating: "0", count: 3 - decimals.utf8.count)) ?? 0)
            return value <= 1000 ? value : nil
        }
    }
}
