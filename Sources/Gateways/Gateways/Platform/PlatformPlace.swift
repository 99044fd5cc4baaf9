package import PatchFormat
import PatchCrypto

/// Where the files for one version of an app lie on a platform's server.
package struct PlatformPlace: Hashable, Sendable {
    package let appKey: PlatformAppKey
    /// By its text: `2.1` and `2.1.0` are two folders on the server.
    package let appVersion: AppVersion

    package init(_ appKey: PlatformAppKey, _ appVersion: AppVersion) {
        self.appKey = appKey
        self.appVersion = appVersion
    }

    /// The bytes of the key that clients in the field make of these two, unless their app gives them another.
    package var ownKey: [UInt8] { Array("\(appKey)_\(appVersion)_jp".utf8.prefix(AESKey.size)) }

    /// Which list a device follows: what is tried before everyone gets it stands in another.
    package enum Audience: Sendable {
        case everyone, developers
    }

    /// Of the sync file, below the platform's root: `0a1b2c3d/2.1`.
    ///
    /// On a disk that is the folder of the packages too, so the file lies in it as ``indexName``: what a server answers with when
    /// it is asked for a folder.
    package func syncPath(for audience: Audience) -> String {
        (audience == .developers ? "dev/" : "") + "\(appKey)/\(appVersion.text)"
    }

    package static let indexName = "index.html"

    /// Of a package; developers' devices fetch it at the same place.
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
