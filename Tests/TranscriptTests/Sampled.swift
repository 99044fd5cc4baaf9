import PatchFormat
import SystemPackage
import CommandKit

/// An error with a sample of every case.
///
/// The switch of ``isSampled`` has no default: a new case does not compile before somebody was here and gave it a sample.
protocol Sampled {
    static var samples: [Self] { get }
    var isSampled: Bool { get }
}

/// Values for errors to name.
enum Sample {
    static let server = url("https://updates.example.com")
    static let path: FilePath = "/srv/patchline/file"
    static let digest = digest("5e")
    static let otherDigest = digest("c1")
    static let app: AppID = named("com.example.storefront")
    static let otherApp: AppID = named("com.example.other")
    static let channel: ChannelName = named("production")
    static let beta: ChannelName = named("beta")
    static let patch: PatchID = named("web")
    static let script: PatchID = named("fix-cart-total")
    static let version: VersionLabel = named("1.4.2")
    static let label = Label(patchID: patch, version: version)
    static let format = FormatError("role.json", field: "signed.version", rule: "must be an integer from 1 to 5")
    /// The third of May 2026, in the morning, and what comes before and after it.
    static let before = UTCTime(seconds: 1_777_700_000)
    static let time = UTCTime(seconds: 1_777_800_000)
    static let after = UTCTime(seconds: 1_777_900_000)

    static func named<Name: ParsedName>(_ text: String) -> Name {
        guard let name = Name(text) else { preconditionFailure("\(text) is no name") }
        return name
    }

    private static func url(_ text: String) -> ServerURL {
        guard let url = ServerURL(text) else { preconditionFailure("\(text) is no URL") }
        return url
    }

    private static func digest(_ byte: String) -> SHA256Digest {
        guard let digest = SHA256Digest(hex: String(repeating: byte, count: 32)) else {
            preconditionFailure("64 digits are a digest")
        }
        return digest
    }
}

extension Failure {
    /// As it is printed, and below it the code with which the program ends.
    var transcript: String {
        let console = Console(descriptor: 2, isTerminal: false)
        return (lines(on: console) + ["[\(code.rawValue)]"]).joined(separator: "\n")
    }
}
