import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import NIOPosix
import PageDiff
import PatchFormat
import PatchStore

/// The shelves of pages and linked resources, on one thread.
///
/// Jobs run in the order in which they were added.
final class PageDisk: Sendable {
    private let pool = NIOThreadPool(numberOfThreads: 1)
    private let pages: DiskCache
    private let linked: DiskCache
    private let now: @Sendable () -> UTCTime
    private let report: @Sendable (String) -> Void
    private let checkedAt = NIOLockedValueBox<UTCTime?>(nil)
    /// The ids of the stored resources.
    ///
    /// They save a disk access for most requests.
    private let known = NIOLockedValueBox<Set<MD5Digest>>([])

    init(_ settings: LivePageProxy.Settings) {
        pages = DiskCache(
            folder: settings.folder,
            files: settings.files,
            suffix: "html",
            limit: settings.pagesOnDisk,
            contentLimit: PageLimits.page
        )
        linked = DiskCache(
            folder: settings.folder.at("links"),
            files: settings.files,
            suffix: "link",
            limit: settings.linksOnDisk,
            contentLimit: PageLimits.linked
        )
        (now, report) = (settings.now, settings.report)
    }

    func begin() {
        pool.start()
        checkIfDue(at: now())
    }

    /// Returns once all jobs so far are done, even if the task is cancelled.
    func written() async {
        await withCheckedContinuation { done in pool.submit { _ in done.resume() } }
    }

    /// Finishes all jobs and stops the thread.
    func end() async {
        await written()
        try? await pool.shutdownGracefully()
    }

    /// Removes expired files and remains of crashes, at the start and every twelve hours.
    func checkIfDue(at now: UTCTime) {
        let isDue = checkedAt.withLockedValue { last in
            if let last, now < last.adding(PageLimits.checkTime), last <= now { return false }
            last = now
            return true
        }
        guard isDue else { return }
        begin { [self] in
            pages.sweep(at: now)
            linked.sweep(at: now)
            learn(linked.ids)
        }
    }

    private func begin(_ work: @escaping @Sendable () -> Void) {
        pool.submit { state in
            if case .active = state { work() }
        }
    }

    private func done<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value? {
        try? await pool.runIfActive(work)
    }

    // MARK: Pages

    func page(_ id: MD5Digest) async -> SessionTable.Found {
        let found = await done { [pages] () -> SessionTable.Found in
            guard let (record, content) = pages.read(id) else { return .nothing }
            guard record.content != nil else { return record.until.map { .switchedOff(until: $0) } ?? .nothing }
            return .page(KeptPage(record, SplitPage(content)))
        }
        return found ?? .nothing
    }

    func keep(_ page: KeptPage, as id: MD5Digest, of account: String?) {
        var record = DiskCacheRecord(page)
        record.account = account.map { DiskCacheRecord.name(of: $0) }
        begin { [self, record] in keep(record, page.page.page, as: id, on: pages) }
    }

    /// Drops everything stored for an account.
    func drop(account: String) {
        let name = DiskCacheRecord.name(of: account)
        begin { [self] in
            for shelf in [pages, linked] { shelf.drop { $0.account == name } }
            learn(linked.ids)
        }
    }

    func drop(_ id: MD5Digest) {
        begin { [pages] in pages.drop(id) }
    }

    func switchOff(_ id: MD5Digest, until: UTCTime, at now: UTCTime) {
        begin { [self] in keep(DiskCacheRecord(savedAt: now, until: until), [], as: id, on: pages) }
    }

    /// Stores a record, or drops it if it could not be read back.
    private func keep(_ record: DiskCacheRecord, _ content: [UInt8], as id: MD5Digest, on shelf: DiskCache) {
        guard record.isReadable else { return shelf.drop(id) }
        do throws(FileError) { try shelf.keep(record, content, as: id) } catch {
            report("a page could not be kept: \(error)")
        }
    }

    // MARK: Linked resources

    /// Whether a linked resource may be stored.
    func mayHave(_ id: MD5Digest) -> Bool { known.withLockedValue { $0.contains(id) } }

    private func learn(_ ids: [MD5Digest]) {
        known.withLockedValue { $0 = Set(ids) }
    }

    /// The stored response, or nil if it is not stored or has expired.
    func linked(_ id: MD5Digest, at now: UTCTime) async -> FileAnswer? {
        guard mayHave(id) else { return nil }
        let found = await done { [linked] in linked.read(id) }
        guard let (record, content) = found ?? nil, let tag = record.content, let until = record.until, now < until
        else { return nil }
        var fields = record.fields
        fields.remove(name: "Content-Type")
        return .bytes(
            ServedBytes(
                bytes: content,
                entityTag: tag.hex,
                contentType: record.fields.first(name: "Content-Type") ?? "application/octet-stream",
                cacheControl: "max-age=\(until.since(now).components.seconds)",
                headers: fields
            )
        )
    }

    func keepLinked(_ record: DiskCacheRecord, _ content: [UInt8], as id: MD5Digest) {
        known.withLockedValue { _ = $0.insert(id) }
        begin { [self] in
            keep(record, content, as: id, on: linked)
            learn(linked.ids)
        }
    }
}
