package import PatchFormat

/// The version of a package and the app version that it is for.
///
/// They determine its path on a loader's server.
package struct LoaderPlace: Hashable, Sendable {
    /// Compared by its text, because `2.1` and `2.1.0` are two folders on the server.
    package let appVersion: AppVersion
    package let version: LoaderVersion

    package init(_ appVersion: AppVersion, _ version: LoaderVersion) {
        self.appVersion = appVersion
        self.version = version
    }

    /// The path below the loader's root: `2.1/v3.zip`.
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
    /// The file in a script archive that records the place the archive is made for.
    ///
    /// JSPatch's own loader copies only `*.js` and ignores it. The signature of the archive covers it.
    package static let recordName = "patchline.json"
    static let recordLimit = 1_024

    /// The content of the record: `{"appVersion":"2.1","version":3}`.
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
