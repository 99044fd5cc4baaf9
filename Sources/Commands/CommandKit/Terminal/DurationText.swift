/// A duration for people: "12 ms", "4.2 s", "1 min 12 s", "2 h 5 min", "3 d 4 h".
package struct DurationText: CustomStringConvertible, Sendable {
    package let description: String

    package init(_ duration: Duration) {
        let (seconds, attoseconds) = max(duration, .zero).components
        let milliseconds = Int(attoseconds / 1_000_000_000_000_000)
        description =
            switch Int(seconds) {
            case 0: "\(milliseconds) ms"
            case 1..<60: "\(seconds).\(milliseconds / 100) s"
            case 60..<3600: pair(seconds, (60, "min"), (1, "s"))
            case 3600..<86400: pair(seconds, (3600, "h"), (60, "min"))
            default: pair(seconds, (86400, "d"), (3600, "h"))
            }
    }
}

private func pair(_ seconds: Int64, _ large: (Int64, String), _ small: (Int64, String)) -> String {
    let rest = seconds % large.0 / small.0
    return "\(seconds / large.0) \(large.1)" + (rest == 0 ? "" : " \(rest) \(small.1)")
}
