package import PatchFormat

/// A package that a release needs but that lacks a key.
package struct UnmadePackage: Equatable, Sendable {
    /// The maximum number of packages that a message names.
    package static let shown = 4

    package let line: GatewayPackages.Line
    package let version: LoaderVersion
    /// The options that would provide its keys.
    package let options: [String]
    /// The effect on clients if the release is made without it; nil if the release requires it.
    package let without: PackageDraft.Without?

    package init(
        _ line: GatewayPackages.Line,
        _ version: LoaderVersion,
        options: [String],
        without: PackageDraft.Without?
    ) {
        (self.line, self.version, self.options, self.without) = (line, version, options, without)
    }

    var words: String {
        "\(line) needs a new package, version \(version), and there is no \(options.joined(separator: " and no "))"
    }
}
