import FoundationEssentials
import Subprocess
import SystemPackage

/// Every file below a store by its path, with its digest: equal ones mean that nothing at all changed.
struct StoreDigest: Equatable, CustomStringConvertible {
    private var files: [String: String] = [:]

    /// Takes all but lock files, which hold the pid of a running process, the log, the record of failed syncs (also where a channel's
    /// folder has nothing else), and a server's own records.
    init(of store: FilePath) async throws {
        let files = """
            find . -type f -not -name lock -not -name serving -not -name sync.lock -not -name 'events.*' -not -name sync.json \\
                -not -name 'records.sqlite*' -exec sha256sum {} +
            find . -type d -not -path ./channels -not -path ./channels/production
            """
        let listing = try await run(.system("bash"), ["-c", files], in: store).done()
        for line in listing.output.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            if parts.count == 2 {
                self.files[String(parts[1].dropFirst())] = String(parts[0])
            } else {
                self.files[String(line)] = ""
            }
        }
        let state = store.appending("channels/production/state.json")
        if self.files["./channels/production/state.json"] != nil { selections = try Self.selections(in: read(state)) }
    }

    private var selections = ""

    /// state.json but for the time of the last sync, and what was counted in vain.
    private static func selections(in state: String) -> String {
        state.replacing(#/"lastSync":\{[^}]*\},/#, with: "").replacing(#/,?"transfers":\[[^\]]*\]/#, with: "")
    }

    /// What is installed: selections, bundles, and who the device is.
    ///
    /// A sync that took nothing may have brought newer metadata, and objects that no selection names yet.
    var installed: StoreDigest {
        var digest = self
        digest.files = files.filter { path, _ in
            path.hasPrefix("./bundles/") || path == "./config.json" || path == "./device.json"
        }
        return digest
    }

    /// Everything but the metadata that a sync rests on, the dial among it, and when it was.
    ///
    /// State names its selections by the digests of their files, so it stands for them.
    var kept: StoreDigest {
        var digest = self
        digest.files = files.filter { path, _ in
            !path.hasPrefix("./trust/") && path != "./channels/production/dial.json"
                && !path.hasPrefix("./channels/production/state.")
                && !path.hasPrefix("./channels/production/selections/") && path != "./channels/production/express.json"
        }
        return digest
    }

    /// The names of all objects that are there, which are their digests.
    var objects: Set<String> {
        let objects = files.filter { $0.key.hasPrefix("./objects/") && !$0.value.isEmpty }
        return Set(objects.keys.compactMap { $0.split(separator: "/").last.map(String.init) })
    }

    /// Objects that are gone or have other bytes than before.
    func lostObjects(since before: StoreDigest) -> [String] {
        before.files.filter { $0.key.hasPrefix("./objects/") && files[$0.key] != $0.value }.keys.sorted()
    }

    var description: String {
        files.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.prefix(12))" }.joined(separator: "\n")
    }
}
