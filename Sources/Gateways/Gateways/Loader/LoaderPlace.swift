package import PatchFormat

/// Where a package lies on a loader's server, and what it is a package of: one version for one version of an app.
package struct LoaderPlace: Hashable, Sendable {
    /// By its text: `2.1` and `2.1.0` are two folders on the server.
    package let appVersion: AppVersion
    package let version: LoaderVersion

    package init(_ appVersion: AppVersion, _ version: LoaderVersion) {
        self.appVersion = appVersion
        self.version = version
    }

    /// Below the loader's root: `2.1/v3.zip`.
    package var path: String { "\(appVersion.text)/\(fileName)" }
    package var fileName: String { "v\(version).zip" }

    package static func == (left: LoaderPlace, right: LoaderPlace) -> Bool {
        left.version == right.version && left.appVersion.text.hasSameBytes(as: right.appVersion.text)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(appVersion.text)
    }
}

extension LoaderPlace: CustomStringConvertible {
    package var description: String { "version \(version) for app version \(appVersion)" }
}

extension LoaderPlace {
    /// The file of a script archive that says what it is an archive of.
    ///
    /// JSPatch's own loader copies `*.js` alone and passes it over. The signature of the archive covers it.
    package static let recordName = "patchline.json"
    static let recordLimit = 1_024

    /// What stands in it: `{"appVersion":"2.1","version":3}`.
    var record: [UInt8] {
        JSON.fields([("appVersion", .text(appVersion.text)), ("version", .integer(version.number))]).canonicalBytes
    }

    init(record bytes: [UInt8]) throws(FormatError) {
        let fields = try Fields(
            JSON.document(bytes, named: Self.recordName, limit: Self.recordLimit),
            of: Self.recordName
        )
        guard let appVersion = AppVersion(try fields.string("appVersion")) else {
            throw fields.broken("appVersion", AppVersion.rule)
        }
        let number = try fields.integer("version", in: LoaderVersion.range)
        guard let version = LoaderVersion(number) else { throw fields.broken("version", LoaderVersion.rule) }
        self.init(appVersion, version)
        guard record == bytes else { throw FormatError(Self.recordName, rule: Self.recordRule) }
    }

    private static let recordRule = "must hold appVersion and version alone, as canonical JSON"
}
