import PatchFormat
import PatchStore
import SystemPackage

/// Numbers that are taken although no file of the tree says so: `versions.json`.
///
/// A number of a role is used once, for caches keep what it led to for ever, and devices refuse a lower one. Those of an
/// exported tree were never served, a role that was superseded long ago is gone, and a server that was restored from a
/// backup does not know what it gave after that. A server without this file has given none away.
struct VersionRecord: Equatable, Sendable {
    static let format = "patchline-versions-v1"
    static let name = "versions.json"

    /// The highest that were given to a tree that was exported with its own signatures, or that devices may have seen of
    /// this server before it was restored from a backup.
    var exported: FreshRoles.Versions?
    /// The release of each channel that a restored server came back with.
    ///
    /// The first that is published after it may leave out numbers that were used after the backup.
    var restored: [ChannelName: Int] = [:]
    /// The highest version of each channel whose role was removed as garbage.
    var collected: [ChannelName: Int] = [:]
    /// The same of the roles that the online key signs; 0 where none was.
    var collectedOnline = Online()

    struct Online: Equatable, Sendable {
        var snapshot = 0
        var dial = 0
    }

    /// A role's file goes, and its number stays used: not one that only a thief can have given, which stands in nobody's
    /// way once his keys are gone.
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
