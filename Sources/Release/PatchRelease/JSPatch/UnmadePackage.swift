package import PatchFormat

/// A package that a release needs, and a key for which is not given.
package struct UnmadePackage: Equatable, Sendable {
    /// How many of them are named where there are more.
    package static let shown = 4

    package let line: GatewayPackages.Line
    package let version: LoaderVersion
    /// Those that would name its keys.
    package let options: [String]
    /// What becomes of clients where the release goes on without it; nil where it must not.
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
