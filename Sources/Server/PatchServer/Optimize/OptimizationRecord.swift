package import PatchFormat
package import PatchStore
import PatchTrust

/// A channel whose current release still lacks small forms or packs.
package struct PendingOptimization: Equatable, Sendable {
    package let channel: ChannelName
    package let roleVersion: Int
    /// Files made so far, and in all; nil before the work begins.
    package let progress: Steps?

    package struct Steps: Equatable, Sendable {
        package let done: Int
        package let total: Int

        package init(done: Int, total: Int) {
            (self.done, self.total) = (done, total)
        }
    }

    package init(_ channel: ChannelName, _ roleVersion: Int, progress: Steps? = nil) {
        (self.channel, self.roleVersion, self.progress) = (channel, roleVersion, progress)
    }

    /// A description for operators: `optimizing production 7: 3 of 12`.
    package var words: String {
        guard let progress else { return "optimizing \(channel) \(roleVersion): not begun" }
        return "optimizing \(channel) \(roleVersion): \(progress.done) of \(progress.total)"
    }

    fileprivate var fields: [(String, JSON?)] {
        [
            ("channel", .text(channel.text)), ("roleVersion", .integer(roleVersion)),
            ("done", progress.map { .integer($0.done) }), ("total", progress.map { .integer($0.total) }),
        ]
    }
}

/// The channels with missing small forms and packs: `optimize.json`, missing if there are none.
///
/// A hint. If it is lost or damaged, devices keep the forms that exist, and `patchsrv optimize` makes the others.
struct OptimizationRecord: Equatable, Sendable {
    static let format = "patchline-optimize-v1"
    static let name = "optimize.json"

    private(set) var rows: [ChannelName: PendingOptimization] = [:]

    init() {}

    /// The release replaces an earlier one of its channel.
    mutating func add(_ pending: PendingOptimization) { rows[pending.channel] = pending }

    /// Forgets a channel's release, but not a newer one.
    mutating func remove(_ channel: ChannelName, roleVersion: Int) {
        if rows[channel]?.roleVersion == roleVersion { rows[channel] = nil }
    }
}

extension OptimizationRecord {
    private static let counts = 0...1_000_000_000

    init(_ bytes: [UInt8]) throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: Self.name, limit: Limits.stateFile), of: Self.name)
        try fields.constant("format", Self.format)
        for (index, value) in try fields.array("pending", limit: Limits.stateFile).enumerated() {
            let row = try Fields(value, of: Self.name, at: "pending[\(index)]")
            var steps: PendingOptimization.Steps?
            if row.has("total") {
                let total = try row.integer("total", in: Self.counts)
                steps = PendingOptimization.Steps(done: try row.integer("done", in: 0...total), total: total)
            }
            let version = try row.integer("roleVersion", in: 1...(1 << 53 - 1))
            add(PendingOptimization(try row.name("channel"), version, progress: steps))
        }
    }

    var fileBytes: [UInt8] {
        JSON.fields([
            ("format", .text(Self.format)),
            ("pending", .array(rows.values.sorted { $0.channel < $1.channel }.map { .fields($0.fields) })),
        ]).fileBytes
    }
}

extension AppTree {
    /// The record, empty if it cannot be read.
    var optimizationRecord: OptimizationRecord {
        guard let bytes = try? files.read(records.at(OptimizationRecord.name), limit: Limits.stateFile),
            let record = try? OptimizationRecord(bytes)
        else { return OptimizationRecord() }
        return record
    }

    /// Writes it durably; the caller holds the lock.
    func keep(_ record: OptimizationRecord) throws(ServerError) {
        do throws(FileError) {
            if record.rows.isEmpty {
                try files.removeIfPresent(records.at(OptimizationRecord.name))
                try files.syncDirectory(records)
            } else {
                try files.replace(OptimizationRecord.name, in: records, with: record.fileBytes)
            }
        } catch { throw .file(error) }
    }
}

extension AppTree {
    /// Channels with missing small forms and packs.
    package var pendingOptimizations: [PendingOptimization] {
        optimizationRecord.rows.values.sorted { $0.channel < $1.channel }
    }

    /// Marks every published channel for optimization; the caller holds the lock.
    package func requestOptimization() throws(ServerError) {
        var record = optimizationRecord
        for (channel, published) in try PublishedState(of: self).channels {
            let version = published.role.header.version
            guard record.rows[channel]?.roleVersion != version else { continue }
            record.add(PendingOptimization(channel, version))
        }
        if record != optimizationRecord { try keep(record) }
    }

    /// Removes a channel's release from the record; the caller holds the lock.
    package func forgetOptimization(of channel: ChannelName, roleVersion: Int) throws(ServerError) {
        var record = optimizationRecord
        record.remove(channel, roleVersion: roleVersion)
        if record != optimizationRecord { try keep(record) }
    }
}

extension ServerFolder {
    /// The channels of all apps with missing small forms and packs.
    package func pendingOptimizations(
        files: any FileOperations = DiskFiles()
    ) throws(ServerError) -> [(app: AppID, pending: PendingOptimization)] {
        try allApps(files: files).flatMap { app in
            let tree = AppTree(app: app, folder: self, files: files, storage: storage(of: app, files: files))
            return tree.optimizationRecord.rows.values.sorted { $0.channel < $1.channel }.map { (app, $0) }
        }
    }
}

extension JSON {
    /// Adds the pending work, if any.
    package func optimizing(_ pending: [(app: AppID, pending: PendingOptimization)]) -> JSON {
        guard var object, !pending.isEmpty else { return self }
        object["optimizing"] = .array(
            pending.map { row in JSON.fields([("app", .text(row.app.text))] + row.pending.fields) }
        )
        return .object(object)
    }
}
