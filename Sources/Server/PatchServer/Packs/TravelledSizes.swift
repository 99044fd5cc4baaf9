import PatchDelta
import PatchFormat

/// How many bytes of a file travel: those of its compressed form where it has one.
struct TravelledSizes: Sendable {
    private let made: [TreePath.File: Int]
    private let storage: any TreeStorage

    init(_ forms: [CompressedForms.Form], _ storage: any TreeStorage) {
        made = Dictionary(forms.map { ($0.file, $0.size) }) { first, _ in first }
        self.storage = storage
    }

    /// - Parameters:
    ///   - manifest: the plain bytes of the new manifest.
    ///   - column: those of the new column.
    func otherwise(_ job: PackPlan.Job, manifest: Int, column: Int) -> UpdateCost.Otherwise {
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
