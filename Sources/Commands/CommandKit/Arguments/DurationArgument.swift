import ArgumentParser
import PatchFormat

/// A duration on the command line: `30d`, `6h`, `15m`, `10s`.
package struct DurationArgument: ExpressibleByArgument {
    package let duration: Duration

    package init?(argument: String) {
        guard let count = Int(argument.dropLast()), (1...100_000).contains(count) else { return nil }
        switch argument.last {
        case "d": duration = .days(count)
        case "h": duration = .hours(count)
        case "m": duration = .minutes(count)
        case "s": duration = .seconds(count)
        case nil, _?: return nil
        }
    }
}
