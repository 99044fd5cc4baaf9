package import PatchFormat
import PatchCrypto

/// The location of the files for one app version on a platform's server.
package struct PlatformPlace: Hashable, Sendable {
    package let appKey: PlatformAppKey
    /// Compared by its text, because `2.1` and `2.1.0` are two folders on the server.
    package let appVersion: AppVersion

    package init(_ appKey: PlatformAppKey, _ appVersion: AppVersion) {
        self.appKey = appKey
        self.appVersion = appVersion
    }

    /// The key that clients in the field derive from these two values, unless their app sets another.
    package var ownKey: [UInt8] { Array("\(appKey)_\(appVersion)_jp".utf8.prefix(AESKey.size)) }

    /// The list that a device follows.
    ///
    /// Developers' devices receive versions before they are published to everyone.
    package enum Audience: Sendable {
        case everyone, developers
    }

    /// The path of the sync file below the platform's root: `0a1b2c3d/2.1`.
    ///
    /// On a disk this path is also the folder of the packages. The file is therefore stored in it as ``indexName``, which a server
    /// returns for a folder.
    package func syncPath(for audience: Audience) -> String {
        (audience == .developers ? "dev/" : "") + "\(appKey)/\(appVersion.text)"
    }

    package static let indexName = "index.html"

    /// The path of a package.
    ///
    /// Developers' devices fetch it from the same path.
    package func packagePath(_ version: LoaderVersion) -> String {
        "\(appKey)/\(appVersion.text)/\(Self.fileName(version))"
    }

    package static func fileName(_ version: LoaderVersion) -> String { "file\(version)" }

    package static func == (left: PlatformPlace, right: PlatformPlace) -> Bool {
        left.appKey == right.appKey && left.appVersion.text.hasSameBytes(as: right.appVersion.text)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(appKey)
        hasher.combine(appVersion.text)
    }
}
