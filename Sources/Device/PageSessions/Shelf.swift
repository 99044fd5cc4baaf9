import Linux
import NIOConcurrencyHelpers
import PageDiff
import PatchFormat
import PatchStore
import PatchCrypto
import SystemPackage

/// Answers kept on disk, each as a record and what it names: `ID.json`, and `ID.SHA1.html` beside it.
///
/// ```
/// write ID.SHA1.html ──▶ replace ID.json ──▶ remove the html of before
/// ```
/// A record is written after what it names, so that a crash leaves the old page, or the new one, and at most files that no
/// record names, which ``sweep(at:)`` removes. Calls block; one at a time.
final class Shelf: Sendable {
    let folder: FilePath
    let files: any FileOperations
    /// What the names of contents end with.
    let suffix: String
    /// In bytes: of all contents and records, as they take room on disk.
    let limit: Int
    /// In bytes.
    let contentLimit: Int
    /// Bytes of all that is here, and never less; nil until somebody counted.
    private let total = NIOLockedValueBox<Int?>(nil)

    init(folder: FilePath, files: any FileOperations, suffix: String, limit: Int, contentLimit: Int) {
        self.folder = folder
        self.files = files
        self.suffix = suffix
        self.limit = limit
        self.contentLimit = contentLimit
    }

    /// What stands under an id; what is damaged is removed, and is as if it had never been there.
    func read(_ id: MD5Digest) -> (record: ShelfRecord, content: [UInt8])? {
        guard let record = record(id) else { return nil }
        guard let tag = record.content else { return (record, []) }
        guard let bytes = try? files.read(path(id, tag), limit: contentLimit), SHA1Digest(of: bytes) == tag else {
            drop(id)
            return nil
        }
        return (record, bytes)
    }

    /// Afterwards: durable, as a whole; and all of it within the limit.
    ///
    /// - Throws: what stood there before still stands, or what is new does.
    func keep(_ record: ShelfRecord, _ content: [UInt8], as id: MD5Digest) throws(FileError) {
        let before = self.record(id)
        try files.makeDirectory(folder)
        if let tag = record.content, before?.content != tag {
            let path = path(id, tag)
            do throws(FileError) {
                // A crash may have left a part of one.
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

    /// The record goes first: what it named is nothing without it.
    func drop(_ id: MD5Digest) {
        let record = record(id)
        try? files.removeIfPresent(folder.at(name(id)))
        if let record {
            if let tag = record.content { try? files.removeIfPresent(path(id, tag)) }
            return
        }
        // One that cannot be read names nothing.
        for name in entries().others where name.hasPrefix("\(id.hex).") { try? files.removeIfPresent(folder.at(name)) }
    }

    func drop(where isOver: (ShelfRecord) -> Bool) {
        for id in entries().records where record(id).map(isOver) ?? false { drop(id) }
    }

    var ids: [MD5Digest] { entries().records }

    /// Removes what a crash has left, what is over, and what is too much.
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

    /// What a file takes: whole blocks.
    static func room(for bytes: Int) -> Int { (bytes + block - 1) / block * block }

    static let block = 4_096

    /// Once it is over its limit, the oldest go until a quarter of that is left.
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

    /// The records' ids, and the names of all else that is ours.
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

    private func record(_ id: MD5Digest) -> ShelfRecord? {
        let path = folder.at(name(id))
        guard let bytes = try? files.read(path, limit: PageLimits.record) else { return nil }
        return try? ShelfRecord(bytes, named: path.string)
    }

    private func name(_ id: MD5Digest) -> String { "\(id.hex).json" }
    private func contentName(_ id: MD5Digest, _ tag: SHA1Digest) -> String { "\(id.hex).\(tag.hex).\(suffix)" }
    private func path(_ id: MD5Digest, _ tag: SHA1Digest) -> FilePath { folder.at(contentName(id, tag)) }
}
