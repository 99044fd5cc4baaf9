/// A number of bytes for people, with decimal units: "812 B", "1.4 MB", "142 MB".
package struct ByteText: CustomStringConvertible, Sendable {
    package let description: String

    package init(_ count: Int) {
        var unit = 0
        var scale = 1
        // From 999,500 on it would round to "1000.0 kB".
        while unit < ByteText.units.count - 1, count >= scale * 1000 - (unit == 0 ? 0 : scale / 2) {
            scale *= 1000
            unit += 1
        }
        description = (unit == 0 ? "\(count)" : threeDigits(count, per: scale)) + " " + ByteText.units[unit]
    }

    private static let units = ["B", "kB", "MB", "GB", "TB", "PB"]
}

/// Returns `count / scale` with one decimal below 100 and none above, rounded half up.
func threeDigits(_ count: Int, per scale: Int) -> String {
    // Computed from quotient and remainder, so that no step exceeds an Int.
    let (whole, rest) = count.quotientAndRemainder(dividingBy: scale)
    let tenths = whole * 10 + (rest + scale / 20) / (scale / 10)
    return tenths < 1000 ? "\(tenths / 10).\(tenths % 10)" : "\(whole + (rest >= scale / 2 ? 1 : 0))"
}
