import ArgumentParser

/// A number of bytes on the command line, in powers of a thousand: `1GB`, `500MB`.
package struct ByteCountArgument: ExpressibleByArgument {
    package static let rule = "must be a number of bytes such as 500MB, 1GB or 0B"

    package let bytes: Int

    package init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let units = ["B": 1, "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000]
        guard let unit = units[String(argument.dropFirst(digits.count))], let count = Int(digits), count <= 1_000_000
        else { return nil }
        bytes = count * unit
    }
}
