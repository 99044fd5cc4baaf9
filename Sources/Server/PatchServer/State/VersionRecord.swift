import PatchFormat
import PatchStore
import SystemPackage

/// Used version numbers without a file in the tree: `versions.json`.
///
/// A role's version is used once: caches keep its file for ever, and devices reject a lower version. Exported trees were never
/// served, long-superseded roles are deleted, and a server restored from a backup does not know which versions it used after the
/// backup. A server without this file has none of these.
struct VersionRecord: Equatable, Sendable {
    static let format = "patchline-versions-v1"
    static let name = "versions.json"

    /// The highest versions used by trees exported with their own signatures, or that devices may have seen before this server was
    /// restored from a backup.
    var exported: FreshRoles.Versions?
    /// The release of each channel in the restored backup.
    ///
    /// The next published release may skip versions used after the backup.
    var restored: [ChannelName: Int] = [:]
    /// The highest version of each channel whose role was removed as garbage.
    var collected: [ChannelName: Int] = [:]
    /// The highest versions of the online key's roles that were removed as garbage; 0 for none.
    var collectedOnline = Online()

    struct Online: Equatable, Sendable {
        var snapshot = 0
        var dial = 0
    }

    /// Records the version of a removed role as used.
    ///
    /// Excludes a version that only an attacker can have used, which is harmless once the attacker's keys are revoked.
    mutating func collect(_ role: String, version: Int) {
        guard version <= UsedVersions.sane else { return }
        switch role {
        case "snapshot": collectedOnline.snapshot = max(version, collectedOnline.snapshot)
        case "dial": collectedOnline.dial = max(version, collectedOnline.dial)
        default:
            guard let channel = ChannelName(role) else { return }
            collected[channel] = max(version, collected[channel] ?? 0)
        }
    }
}

extension VersionRecord {
    private static let versions = 1...(1 << 53 - 1)

    init(_ bytes: [UInt8]) throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: Self.name, limit: Limits.stateFile), of: Self.name)
        try fields.constant("format", Self.format)
        if fields.has("exported") {
            let row = try fields.fields("exported")
            exported = FreshRoles.Versions(
                dial: try row.integer("dial", in: Self.versions),
                snapshot: try row.integer("snapshot", in: Self.versions),
                timestamp: try row.integer("timestamp", in: Self.versions)
            )
        }
        if fields.has("collectedOnline") {
            let row = try fields.fields("collectedOnline")
            collectedOnline.snapshot = try row.integer("snapshot", in: 0...UsedVersions.sane)
            collectedOnline.dial = try row.integer("dial", in: 0...UsedVersions.sane)
        }
        for (index, value) in try fields.array("collected", limit: Limits.stateFile).enumerated() {
            let row = try Fields(value, of: Self.name, at: "collected[\(index)]")
            collected[try row.name("channel")] = try row.integer("roleVersion", in: Self.versions)
        }
        guard fields.has("restored") else { return }
        for (index, value) in try fields.array("restored", limit: Limits.stateFile).enumerated() {
            let row = try Fields(value, of: Self.name, at: "restored[\(index)]")
            restored[try row.name("channel")] = try row.integer("roleVersion", in: Self.versions)
        }
    }

    private static func rows(_ versions: [ChannelName: Int]) -> JSON {
        .array(
            versions.sorted { $0.key < $1.key }.map {
                .fields([("channel", .text($0.key.text)), ("roleVersion", .integer($0.value))])
            }
        )
    }

    var fileBytes: [UInt8] {
        JSON.fields([
            ("format", .text(Self.format)),
            (
                "exported",
                exported.map {
                    .fields([
                        ("dial", .integer($0.dial)), ("snapshot", .integer($0.snapshot)),
                        ("timestamp", .integer($0.timestamp)),
                    ])
                }
            ),
            (
                "collectedOnline",
                collectedOnline == Online()
                    ? nil
                    : .fields([
                        ("snapshot", .integer(collectedOnline.snapshot)), ("dial", .integer(collectedOnline.dial)),
                    ])
            ),
            ("collected", Self.rows(collected)),
            ("restored", restored.isEmpty ? nil : Self.rows(restored)),
        ]).fileBytes
    }
}

extension AppTree {
    func versionRecord() throws(ServerError) -> VersionRecord {
        let path = records.at(VersionRecord.name)
        guard try exists(path) else { return VersionRecord() }
        let bytes = try read(path, limit: Limits.stateFile)
        do throws(FormatError) { return try VersionRecord(bytes) } catch { throw .record(app, error) }
    }

    /// Writes it durably; the caller holds the lock.
    func keep(_ record: VersionRecord) throws(ServerError) {
        do throws(FileError) {
            try files.replace(VersionRecord.name, in: records, with: record.fileBytes)
        } catch { throw .file(error) }
    }
}
