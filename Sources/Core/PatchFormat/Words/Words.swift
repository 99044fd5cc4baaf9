/// Formats counts for people.
package enum Words {
    /// A number with separators: `1,234,567`.
    package static func grouped(_ number: Int) -> String {
        var digits = Array(String(number.magnitude))
        for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
        return (number < 0 ? "-" : "") + String(digits)
    }

    /// A number with its noun: `1 file`, `3 files`.
    package static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(grouped(number)) \(number == 1 ? noun : plural ?? noun + "s")"
    }

    package static func bytes(_ count: Int) -> String {
        Self.count(count, "byte")
    }
}
