import ArgumentParser
import CommandKit
import PatchFormat

/// How often a server signs again: a duration, or `off`.
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
