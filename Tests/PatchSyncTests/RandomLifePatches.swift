import DeviceTesting
@testable import PatchChoice
import PatchFormat
@testable import PatchSync
import PatchTesting
import PatchCrypto
import PatchTrust

/// What may be published in a random life: scripts, and bundles whose versions share files with one another, with another
/// bundle and with a script.
extension RandomLife {
    /// One version as it may be listed, without rules.
    struct Item: Sendable {
        let patch: SimulatedPatch
        let content: PatchContent
        /// Where its bytes stand on the server.
        let paths: [String]
    }

    private struct Key: Hashable {
        let id: String
        let version: Int
        let channel: ChannelName
    }

    static let channels = [SimulatedRepository.production, SimulatedRepository.beta]
    static let scripts = ["banner", "fix"]
    static let bundles = ["docs", "web"]
    static let ids = (scripts + bundles).sorted()
    static let versions = 4

    private static let items: [Key: Item] = {
        var items: [Key: Item] = [:]
        for id in ids {
            for channel in channels {
                for version in 0...versions + 1 {
                    let key = Key(id: id, version: version, channel: channel)
                    items[key] = made(id, version, channel)
                }
            }
        }
        return items
    }()

    /// The version 0 and the one after the last are never listed.
    static func item(_ id: String, _ version: Int, _ channel: ChannelName) -> Item {
        guard let item = items[Key(id: id, version: version, channel: channel)] else {
            preconditionFailure("\(id) \(version) was not made")
        }
        return item
    }

    static func content(_ id: String, _ version: Int, _ channel: ChannelName) -> PatchContent {
        item(id, version, channel).content
    }

    private static func made(_ id: String, _ version: Int, _ channel: ChannelName) -> Item {
        let isScript = scripts.contains(id)
        let patch =
            isScript
            ? SimulatedPatch.script(id, "\(version)", text(id, version, channel))
            : bundle(id, version, channel)
        let sha256 = SHA256Digest(of: patch.named(in: SimulatedTree(at: ManualClock.start).app, at: ManualClock.start))
        let entry = URLLayout.entry(
            kind: isScript ? .script : .bundle,
            channel: channel,
            patchID: patch.id,
            version: patch.version,
            sha256: sha256
        )
        var paths = [entry]
        if case .bundle(let files) = patch.content {
            paths += files.map { URLLayout.object(SHA256Digest(of: $0.bytes)) }
        }
        return Item(patch: patch, content: PatchContent(patchID: patch.id, sha256: sha256), paths: paths)
    }

    /// The first two versions are the same in both channels, as after a promotion.
    private static func text(_ id: String, _ version: Int, _ channel: ChannelName) -> String {
        "\(id)(\(version));" + (version > 2 ? "// \(channel)" : "")
    }

    /// So much that two packs weigh less.
    private static let large = noise(60_000, seed: 11)

    /// Two files of all versions, one of every other, one that moves, a script's text, and one of its own.
    private static func bundle(_ id: String, _ version: Int, _ channel: ChannelName) -> SimulatedPatch {
        var files = [
            "index.html": "<p>\(id)</p>", "app/lib.js": "lib(\(version % 2));", "\(version)/style.css": "p {}",
            "app/fix.js": text("fix", version, channel), "app/main.js": text("main", version, channel) + "// \(id)",
            "large.js": large,
        ]
        if version == 3 { files["again/style.css"] = "p {}" }
        var patch = SimulatedPatch.bundle(id, "\(version)", files)
        patch.created = ManualClock.start
        patch.compatibility = [native(1).name: native(version == 3 && id == "web" ? 2 : 1).compatibility]
        return patch
    }

    /// The native part of the app: the first, or another one.
    static func native(_ number: Int) -> Platform {
        guard let platform = Platform(name: "ios", compatibility: "native-\(number)") else {
            preconditionFailure(Platform.rule)
        }
        return platform
    }
}
