import ArgumentParser
import PatchFormat

/// A length of time on the command line: `30d`, `6h`, `15m`, `10s`.
struct DurationArgument: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
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

/// How often a server signs again: a length of time, or `off`.
enum RefreshInterval: ExpressibleByArgument {
    case every(Duration)
    case off

    static let usual = RefreshInterval.every(.hours(6))

    var defaultValueDescription: String { "6h" }

    init?(argument: String) {
        if argument == "off" {
            self = .off
        } else if let length = DurationArgument(argument: argument) {
            self = .every(length.duration)
        } else {
            return nil
        }
    }
}
