import PatchFormat
import PatchStore
import PatchTrust
import ReleaseTree
import SystemPackage

extension AppRepository {
    /// Writes what is missing or different, step by step; what is there already is left alone.
    ///
    /// Afterwards: every file of the plan is durable. When it throws, the steps up to some point are, and readers see
    /// the old state; carrying out the same or another plan continues from there.
    /// - Parameter state: what the plan was made from; nil for a tree that begins, or whose timestamp stays.
    /// - Throws: `movedOn` when another has published meanwhile.
    func carryOut(_ plan: PublicationPlan, over state: PublishedState?) throws(ServerError) -> TreeChange {
        _ = try storage.removeHalfWritten()
        let total = plan.steps.reduce(0) { $0 + $1.writes.count }
        let progress = progress(.writing, total)
        var (change, done) = (TreeChange(), 0)
        for (_, writes) in plan.steps {
            change += try storage.put(writes.compactMap(\.contents)) { progress(min(done + $0, total - 1)) }
            for write in writes {
                switch (write.target, write.source) {
                case (.record(let name), .bytes(let bytes)): try keep(bytes, as: name, &change)
                case (.tree(.timestamp), .bytes(let bytes)):
                    change += try storage.exchange(bytes, for: state?.timestampBytes)
                default: break
                }
            }
            done += writes.count
            progress(done)
        }
        _ = try storage.removeHalfWritten()
        return change
    }

    /// A record of the server's own, readable by the server alone.
    private func keep(_ bytes: [UInt8], as name: String, _ change: inout TreeChange) throws(ServerError) {
        do throws(FileError) {
            try files.makeDirectory(tree.records)
            if try files.status(of: tree.records.at(name)) != nil,
                (try? files.read(tree.records.at(name), limit: bytes.count)) == bytes
            {
                return try files.syncDirectory(tree.records)
            }
            try files.replace(name, in: tree.records, with: bytes)
        } catch { throw .file(error) }
        change.files += 1
        change.bytes += bytes.count
    }
}

extension PublicationPlan.Write {
    /// Nil for the timestamp, and for what is no part of the tree.
    var contents: TreeWrite? {
        guard case .tree(let file) = target, file != .timestamp else { return nil }
        return TreeWrite(file: file, source: source)
    }
}
