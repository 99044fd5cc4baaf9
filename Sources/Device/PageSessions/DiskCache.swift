import Linux
import NIOConcurrencyHelpers
import PageDiff
import PatchFormat
import PatchStore
import PatchCrypto
import SystemPackage

/// Responses stored on disk, each as a record and its content: `ID.json` and `ID.SHA1.html`.
///
/// ```
/// write ID.SHA1.html ──▶ replace ID.json ──▶ remove the previous html
/// ```
///
/// A record is written after its content. After a crash the old or the new page exists, and possibly unreferenced files, which
/// ``sweep(at:)`` removes. Calls block, and must not run concurrently.
final class DiskCache: Sendable {
    let folder: FilePath
    let files: any FileOperations
    /// The suffix of content files.
    let suffix: String
    /// The maximum size of all contents and records in bytes, counted in blocks on disk.
    let limit: Int
    /// The maximum size of a content in bytes.
    let contentLimit: Int
    /// An upper bound of the bytes on disk, or nil until they are counted.
    private let total = NIOLockedValueBox<Int?>(nil)

    init(folder: FilePath, files: any FileOperations, suffix: String, limit: Int, contentLimit: Int) {
        self.folder = folder
        self.files = files
        self.suffix = suffix
        self.limit = limit
        self.contentLimit = contentLimit
    }

    /// The record and content of an id.
    ///
    /// Damaged ones are removed and treated as missing.
    func read(_ id: MD5Digest) -> (record: DiskCacheRecord, content: [UInt8])? {
        guard let record = record(id) else { return nil }
        guard let tag = record.content else { return (record, []) }
        guard let bytes = try? files.read(path(id, tag), limit: contentLimit), SHA1Digest(of: bytes) == tag else {
            drop(id)
            return nil
        }
        return (record, bytes)
    }

    /// Stores a record and its content durably and atomically, then trims the shelf to its limit.
    ///
    /// - Throws: If writing failed. Either the old or the new record is stored.
    func keep(_ record: DiskCacheRecord, _ content: [UInt8], as id: MD5Digest) throws(FileError) {
        let before = self.record(id)
        try files.makeDirectory(folder)
        if let tag = record.content, before?.content != tag {
            let path = path(id, tag)
            do throws(FileError) {
                // A crash may have left a partial file.
                try files.removeIfPresent(path)
                try files.write(content, to: path)
            } catch {
                try? files.removeIfPresent(path)
                throw error
            }
        }
        try files.replace(name(id), in: folder, with: record.bytes)
        if let old = before?.content, old != record.content { try files.removeIfPresent(path(id, old)) }
        total.withLockedValue { $0? += Self.room(for: content.count) + Self.room(for: record.bytes.count) }
        trim()
    }

    /// Removes a record first and then its content, which is unused without it.
    func drop(_ id: MD5Digest) {
        let record = record(id)
        try? files.removeIfPresent(folder.at(name(id)))
        if let record {
            if let tag = record.content { try? files.removeIfPresent(path(id, tag)) }
            return
        }
        // An unreadable record does not reveal its content's name.
        for name in entries().others where name.hasPrefix("\(id.hex).") { try? files.removeIfPresent(folder.at(name)) }
    }

    func drop(where isOver: (DiskCacheRecord) -> Bool) {
        for id in entries().records where record(id).map(isOver) ?? false { drop(id) }
    }

    var ids: [MD5Digest] { entries().records }

    /// Removes remains of crashes, expired files, and the excess over the limit.
    func sweep(at now: UTCTime) {
        let (records, others) = entries()
        var named: Set<String> = []
        for id in records {
            guard let record = record(id), record.until.map({ now < $0 }) ?? true else {
                drop(id)
                continue
            }
            if let tag = record.content { named.insert(contentName(id, tag)) }
        }
        for name in others where !named.contains(name) { try? files.removeIfPresent(folder.at(name)) }
        total.withLockedValue { $0 = nil }
        trim()
    }

    /// The space of a file on disk, in whole blocks.
    static func room(for bytes: Int) -> Int { (bytes + block - 1) / block * block }

    static let block = 4_096

    /// Removes the oldest files until a quarter of the limit is left, if the limit is exceeded.
    private func trim() {
        if let total = total.withLockedValue(\.self), total <= limit { return }
        let (records, others) = entries()
        var sizes: [String: Int] = [:]
        for name in records.map({ name($0) }) + others {
            let size = (try? files.identity(of: folder.at(name)))??.size ?? 0
            sizes[String(name.prefix(Self.idLength)), default: 0] += Self.room(for: size)
        }
        var total = sizes.values.reduce(0, +)
        defer { self.total.withLockedValue { $0 = total } }
        guard total > limit else { return }
        let known = records.map { (id: $0, savedAt: record($0)?.savedAt ?? UTCTime(seconds: 0)) }
        for (id, _) in known.sorted(by: { ($0.savedAt, $0.id) < ($1.savedAt, $1.id) }) where total > limit / 4 {
            drop(id)
            total -= sizes[id.hex] ?? 0
        }
    }

    private static let idLength = 2 * MD5.byteCount

    /// The ids of the records, and the names of all other files of this shelf.
    private func entries() -> (records: [MD5Digest], others: [String]) {
        var (records, others): ([MD5Digest], [String]) = ([], [])
        for name in (try? files.list(folder)) ?? [] {
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            if parts.count == 2, parts[1] == "json", let id = MD5Digest(hex: String(parts[0])) {
                records.append(id)
            } else if parts.first == "" || parts.count == 3 && parts[2] == suffix {
                others.append(name)
            }
        }
        return (records, others)
    }

    private func record(_ id: MD5Digest) -> DiskCacheRecord? {
        let path = folder.at(name(id))
        guard let bytes = try? files.read(path, limit: PageLimits.record) else { return nil }
        return try? DiskCacheRecord(bytes, named: path.string)
    }

    private func name(_ id: MD5Digest) -> String { "\(id.hex).json" }
    private func contentName(_ id: MD5Digest, _ tag: SHA1Digest) -> String { "\(id.hex).\(tag.hex).\(suffix)" }
    private func path(_ id: MD5Digest, _ tag: SHA1Digest) -> FilePath { folder.at(contentName(id, tag)) }
}
