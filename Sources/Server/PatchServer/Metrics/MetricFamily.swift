/// One metric with all its samples, in Prometheus' text format 0.0.4.
///
/// A counter's name ends with `_total`; the name contains the unit (`_bytes`, `_seconds`).
package struct MetricFamily: Sendable {
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    package enum Value: Equatable, Sendable {
        case integer(Int)
        /// A number of nanoseconds, written in seconds.
        case nanoseconds(Int)
    }

    package struct Sample: Sendable {
        /// The suffix of the family's name: `_bucket`, `_sum`, `_count`; empty for all but histograms.
        let suffix: String
        let labels: [(name: String, value: String)]
        let value: Value
    }

    let name: String
    let help: String
    let kind: Kind
    private(set) var samples: [Sample] = []

    package init(_ name: String, _ kind: Kind, _ help: String) {
        (self.name, self.kind, self.help) = (name, kind, help)
    }

    package init(_ name: String, _ kind: Kind, _ help: String, _ value: Value) {
        self.init(name, kind, help)
        add(value)
    }

    package mutating func add(_ value: Value, _ labels: [(name: String, value: String)] = [], suffix: String = "") {
        samples.append(Sample(suffix: suffix, labels: labels, value: value))
    }

    /// The text for Prometheus, empty for a family without samples.
    package var text: String {
        guard !samples.isEmpty else { return "" }
        var text = "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples {
            text += name + sample.suffix
            if !sample.labels.isEmpty {
                let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
                text += "{\(labels.joined(separator: ","))}"
            }
            text += " \(sample.value)\n"
        }
        return text
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension MetricFamily.Value: CustomStringConvertible {
    package var description: String {
        switch self {
        case .integer(let value): return "\(value)"
        case .nanoseconds(let value):
            let (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
            let digits = "\(rest)"
            let decimals = String(repeating: "0", count: 9 - digits.utf8.count) + digits
            return "\(value < 0 ? "-" : "")\(whole).\(decimals)"
        }
    }
}
