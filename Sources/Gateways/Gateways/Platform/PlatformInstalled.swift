package import PatchFormat

/// The version that a client has installed for one app version, and the highest that it ever installed.
package struct PlatformInstalled: Equatable, Sendable {
    private static let document = "state of the platform's client"
    package static let limit = 1_024
    private static let rule = "must hold highest and version alone, as canonical JSON"
    private static let highestRule = "must not be below version"
    package static let nothing = PlatformInstalled()

    package private(set) var version: LoaderVersion?
    /// The highest version that was ever installed, never below ``version``.
    ///
    /// It is kept when the installed version is deleted.
    package private(set) var highest: LoaderVersion?

    private init() {}

    package func installing(_ version: LoaderVersion) -> PlatformInstalled {
        var new = PlatformInstalled()
        new.version = version
        new.highest = max(version, highest ?? version)
        return new
    }

    package var deleting: PlatformInstalled {
        var new = self
        new.version = nil
        return new
    }

    /// Reads ``bytes``.
    package init(_ bytes: [UInt8]) throws(FormatError) {
        let fields = try Fields(JSON.document(bytes, named: Self.document, limit: Self.limit), of: Self.document)
        highest = LoaderVersion(try fields.integer("highest", in: LoaderVersion.range))
        if fields.has("version") { version = LoaderVersion(try fields.integer("version", in: LoaderVersion.range)) }
        if let version, let highest, version > highest { throw fields.broken("highest", Self.highestRule) }
        guard bytes == self.bytes else { throw FormatError(Self.document, rule: Self.rule) }
    }

    package var bytes: [UInt8] {
        JSON.fields([
            ("version", version.map { .integer($0.number) }), ("highest", highest.map { .integer($0.number) }),
        ]).canonicalBytes
    }
}
