package import PatchDelta
package import PatchFormat
import PatchStore
import ReleaseFolder
import SystemPackage

/// A pack from a base as separate files, to be moved into the tree.
struct MadePack: Sendable {
    let job: PackPlan.Job
    let cost: UpdateCost
    let summary: PackSummary
    /// The pack; also the signatures, and both in one file, if the new column can be made from the base's.
    let files: [CompressedForms.Form]
}

/// A pack that a publish discards, because it saves too few bytes for the space it uses.
package struct DiscardedPack: Equatable, Sendable {
    package let new: Label
    package let base: VersionLabel
    package let cost: UpdateCost

    /// A sentence for operators.
    package var words: String {
        "pack from \(new.patchID) \(base) to \(new.version) left out: its \(Words.bytes(cost.pack)) save \(cost.saving) % of an "
            + "update, less than \(UpdateCost.leastSaving) %"
    }

    package var json: JSON {
        .fields([
            ("patchId", .text(new.patchID.text)), ("version", .text(new.version.text)), ("base", .text(base.text)),
            ("packBytes", .integer(cost.pack)), ("saving", .integer(cost.saving)), ("words", .text(words)),
        ])
    }
}

/// Makes packs in a folder.
struct PackFiles: Sendable {
    let folder: FilePath
    let files: any FileOperations
    let sources: VersionSources
    let effort: PackMaker.Effort
    let sizes: TransferSizes
    /// Whether to keep packs that save few bytes for the space they use.
    var keepsAll = false
    /// Receives the packs that are discarded for that reason.
    var onDiscard: @Sendable (DiscardedPack) -> Void = { _ in }

    /// Makes a pack.
    ///
    /// Returns nil if it cannot be made or saves too little: devices do without.
    ///
    /// - Throws: only `file` with `noSpace`.
    func make(_ job: PackPlan.Job, _ number: Int) throws(ServerError) -> MadePack? {
        let spool = folder.at("\(number).groups")
        defer { try? files.removeIfPresent(spool) }
        do throws(ServerError) { return try make(job, number, by: spool) } catch {
            if case .file(.noSpace) = error { throw error }
            return nil
        }
    }

    private func make(_ job: PackPlan.Job, _ number: Int, by path: FilePath) throws(ServerError) -> MadePack? {
        let (oldBytes, newBytes) = (try sources.document(job.base.manifest), try sources.document(job.new.manifest))
        let (oldColumn, newColumn) = (try sources.document(job.base.column), try sources.document(job.new.column))
        let groups = try GroupSpool(path, files)
        let (head, summary, signatures): ([UInt8], PackSummary, [UInt8]?)
        do throws(PackError) {
            let (base, new) = (try PackManifest(oldBytes), try PackManifest(newBytes))
            signatures = PackSignatures.bytes(from: base, column: oldColumn, to: new, column: newColumn)
            let maker = try PackMaker(
                base: base,
                new: new,
                manifest: job.new.digest,
                objects: sources.contents,
                effort: effort
            )
            (head, summary) = try maker.make { groups.take($0) }
        } catch { return nil }
        try groups.close()
        let cost = UpdateCost(
            pack: summary.bytes,
            signatures: signatures?.count ?? newColumn.count,
            otherwise: sizes.otherwise(job, manifest: newBytes.count, column: newColumn.count).bytes
        )
        guard cost.isWorthwhile else { return nil }
        guard keepsAll || cost.isWorthItsSpace else {
            onDiscard(DiscardedPack(new: job.new.label, base: job.base.label.version, cost: cost))
            return nil
        }
        var made = [try write(head, path, as: .basePack(job.pack, .pack), to: folder.at("\(number).pack"))]
        if let signatures {
            let pack = made[0].path
            made += [
                try write(signatures, nil, as: .basePack(job.pack, .signatures), to: folder.at("\(number).sigs")),
                try write(
                    BasePack.front(signatures),
                    pack,
                    as: .basePack(job.pack, .signed),
                    to: folder.at("\(number).signed")
                ),
            ]
        }
        return MadePack(job: job, cost: cost, summary: summary, files: made)
    }

    /// - Parameter rest: a file whose bytes are appended.
    private func write(
        _ bytes: [UInt8],
        _ rest: FilePath?,
        as file: TreePath.File,
        to path: FilePath
    ) throws(ServerError) -> CompressedForms.Form {
        var form = try FormWriter(path, files)
        try form.append(bytes)
        if let rest {
            let reader: any FileReader
            do throws(FileError) { reader = try files.open(rest, limit: Limits.object) } catch { throw .file(error) }
            while let piece = try next(of: reader) { try form.append(piece) }
        }
        return try form.finish(as: file)
    }

    private func next(of reader: any FileReader) throws(ServerError) -> [UInt8]? {
        do throws(FileError) { return try reader.next() } catch { throw .file(error) }
    }
}

/// The groups of a pack while they are made.
///
/// The head that precedes them is known last.
private final class GroupSpool {
    private let writer: any FileWriter
    private var failure: FileError?

    init(_ path: FilePath, _ files: any FileOperations) throws(ServerError) {
        do throws(FileError) { writer = try files.create(path, permissions: .privateFile) } catch { throw .file(error) }
    }

    func take(_ bytes: [UInt8]) {
        guard failure == nil else { return }
        do throws(FileError) { try writer.append(bytes) } catch { failure = error }
    }

    func close() throws(ServerError) {
        if let failure { throw .file(failure) }
        do throws(FileError) { try writer.close() } catch { throw .file(error) }
    }
}

/// The transfer size of a file: that of its compressed form, if it has one.
struct TransferSizes: Sendable {
    private let made: [TreePath.File: Int]
    private let storage: any TreeStorage

    init(_ forms: [CompressedForms.Form], _ storage: any TreeStorage) {
        made = Dictionary(forms.map { ($0.file, $0.size) }) { first, _ in first }
        self.storage = storage
    }

    /// - Parameters:
    ///   - manifest: the size of the new manifest, uncompressed.
    ///   - column: the size of the new column, uncompressed.
    func otherwise(_ job: PackPlan.Job, manifest: Int, column: Int) -> UpdateCost.Alternative {
        UpdateCost.otherwise(
            manifest: size(job.new.manifest, plain: manifest),
            column: size(job.new.column, plain: column),
            objects: job.missing.map { size(.object($0.key), plain: $0.value) },
            whole: size(.pack(job.new.digest), plain: job.whole)
        )
    }

    private func size(_ file: TreePath.File, plain: Int) -> Int {
        let form = TreePath.File.compressed(file, .zstandard)
        return made[form] ?? ((try? storage.status(of: form)) ?? nil)?.size ?? plain
    }
}
