import ArgumentParser

/// A number of bytes on the command line, with decimal units and in the form of the programs' output: `1GB`, `13.6kB`, `13609B`.
package struct ByteCountArgument: ExpressibleByArgument {
    package static let rule = "must be a number of bytes such as 1GB, 13.6kB or 13609B"

    package let bytes: Int

    package init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        var rest = argument.dropFirst(digits.count)
        var tenths = Substring()
        if rest.first == "." {
            tenths = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
            guard tenths.count == 1 else { return nil }
            rest = rest.dropFirst(2)
        }
        let units = ["B": 1, "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000]
        guard let unit = units[String(rest)], let count = Int(digits), count <= 1_000_000,
            let tenth = tenths.isEmpty ? 0 : Int(tenths), unit > 1 || tenths.isEmpty
        else { return nil }
        bytes = count * unit + tenth * (unit / 10)
    }
}
