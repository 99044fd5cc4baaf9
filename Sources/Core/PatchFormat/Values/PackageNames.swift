/// The number of a package of JSPatch's loader or platform.
///
/// Clients request a package by it.
package struct LoaderVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    package static let rule = "must be an integer from 1 to 999999999"
    package static let range = 1...999_999_999
    package let number: Int

    package init?(_ number: Int) {
        guard Self.range.contains(number) else { return nil }
        self.number = number
    }

    /// Decimal digits without a leading zero.
    package init?(_ text: String) {
        guard text.utf8.count <= 9, text.utf8.first != UInt8(ascii: "0"),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text)
        else { return nil }
        self.init(number)
    }

    package var description: String { "\(number)" }

    package static func < (left: LoaderVersion, right: LoaderVersion) -> Bool {
        left.number < right.number
    }
}

/// The name of a script in such a package: a file name without a folder that ends in `.js`.
package struct ScriptName: Hashable, Comparable, Sendable, CustomStringConvertible {
    package static let rule = "must end in .js and hold no slash"
    package static let main = ScriptName(checked: "main.js")
    private static let suffix = ".js"

    private let exact: ExactString
    package var text: String { exact.text }
    package var description: String { text }

    /// Applies the rules of a path in a bundle.
    package init?(_ text: String) {
        guard let path = try? AssetPath(text), !text.utf8.contains(UInt8(ascii: "/")), text.hasSuffix(Self.suffix),
            text.utf8.count > Self.suffix.utf8.count
        else { return nil }
        self.init(checked: path.text)
    }

    private init(checked text: String) {
        exact = ExactString(text)
    }

    package static func < (left: ScriptName, right: ScriptName) -> Bool {
        left.exact < right.exact
    }
}

/// The key by which JSPatch's platform identifies an app.
///
/// The platform assigned sixteen hex digits.
package struct PlatformAppKey: ParsedName {
    package static let rule = "must be 1 to 64 of A-Z a-z 0-9"
    package let text: String

    package init?(_ text: String) {
        guard (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            })
        else { return nil }
        self.text = text
    }
}
