package import PatchFormat

/// Bundles whose manifest showed that they fit another native part than this device's, so that it is not fetched again.
package typealias UnfitVersions = LeftOutVersions<UnfitRow>

/// The native part that an unfit version was judged for.
package struct UnfitRow: LeftOutRow {
    package static let field = "unfit"

    package let version: VersionLabel
    /// For which the manifest was judged.
    package let platform: Platform
    /// The hash that it names for that platform; nil when it names none.
    package let needs: String?

    package init(version: VersionLabel, platform: Platform, needs: String?) {
        self.version = version
        self.platform = platform
        self.needs = needs.map { String($0.unicodeScalars.prefix(Self.longestNeed)) }
    }

    package init(version: VersionLabel, _ fields: Fields) throws(FormatError) {
        guard
            let platform = Platform(
                name: try fields.string("platform"),
                compatibility: try fields.string("compatibility")
            )
        else { throw fields.broken("platform", Platform.rule) }
        self.init(version: version, platform: platform, needs: try fields.optionalString("needs"))
    }

    package var members: [(String, JSON?)] {
        [
            ("platform", .text(platform.name)), ("compatibility", .text(platform.compatibility)),
            ("needs", needs.map { .text($0) }),
        ]
    }

    /// In Unicode scalars; a longer hash in a manifest matches no device.
    private static let longestNeed = 128
}

extension UnfitVersions {
    package func contains(_ content: PatchContent, for platform: Platform) -> Bool {
        rows[content]?.platform == platform
    }

    /// Forgets versions that are no longer listed, or were judged for another native part.
    package mutating func keep(only listed: Set<PatchContent>, for platform: Platform?) {
        keep { listed.contains($0) && $1.platform == platform }
    }
}
