/// The order in which people expect names: case aside, and numbers by their value, so that `a2` comes before `a10`.
enum NaturalOrder {
    static func precedes(_ left: String, _ right: String) -> Bool {
        let (a, b) = (parts(left), parts(right))
        for (first, second) in zip(a, b) where first != second { return first < second }
        return a.count == b.count ? left < right : a.count < b.count
    }

    private enum Part: Comparable {
        /// Digits without leading zeros: the longer is the larger.
        case number(length: Int, digits: String)
        case text(String)
    }

    private static func parts(_ name: String) -> [Part] {
        var parts: [Part] = []
        var rest = name.lowercased()[...]
        while let first = rest.first {
            let isNumber = first.isASCII && first.isNumber
            let run = rest.prefix { ($0.isASCII && $0.isNumber) == isNumber }
            rest = rest.dropFirst(run.count)
            let digits = String(run.drop { $0 == "0" })
            parts.append(isNumber ? .number(length: digits.count, digits: digits) : .text(String(run)))
        }
        return parts
    }
}
