import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// Moves a tree to its next state, step by step, and keeps correct files.
///
/// Afterwards: every file of the plan is durable. If it throws, only the first steps are, and readers see the old state. Writing
/// the same or another plan continues from there.
package struct WriteTree: Sendable {
    private let plan: PublicationPlan
    private let repository: AppRepository
    private let state: PublishedState?
    private let storage: any TreeStorage

    /// - Parameter state: the state that the plan was made from; nil for a new tree, or if the timestamp stays.
    init(_ plan: PublicationPlan, in repository: AppRepository, over state: PublishedState?) {
        (self.plan, self.repository, self.state) = (plan, repository, state)
        storage = repository.storage
    }

    /// Adds files to a tree without publishing anything; existing files stay.
    package init(adding made: CompressedForms, in repository: AppRepository) {
        var plan = PublicationPlan()
        plan.add(made)
        self.init(plan, in: repository, over: nil)
    }

    /// - Throws: `movedOn` if another process has published meanwhile.
    @discardableResult
    package func run() throws(ServerError) -> TreeChange {
        _ = try storage.removeHalfWritten()
        let total = plan.steps.reduce(0) { $0 + $1.writes.count }
        let progress = repository.progress(.writing, total)
        var (change, done) = (TreeChange(), 0)
        var forms = (plan.writes[.forms] ?? []).compactMap(\.contents?.file)
        for (step, writes) in plan.steps {
            change += try freeingSpace(&forms) { (forms) throws(ServerError) in
                if step == .indexes { return try IndexPacks(in: repository, to: plan.packed).run() }
                // Forms that did not fit on the disk.
                guard step != .forms || !forms.isEmpty else { return .nothing }
                let contents = writes.compactMap(\.contents)
                // An existing form was made meanwhile, and a client may have downloaded a part of it.
                let wanted = step == .forms ? try missing(contents) : contents
                return try storage.put(wanted) { progress(min(done + $0, total - 1)) }
            }
            for write in writes {
                change += try freeingSpace(&forms) { (_) throws(ServerError) in try finish(write) }
            }
            done += writes.count
            progress(done)
        }
        _ = try storage.removeHalfWritten()
        return change
    }

    /// Writes a record or the timestamp; other files of the tree are written in batches.
    private func finish(_ write: PublicationPlan.Write) throws(ServerError) -> TreeChange {
        switch (write.target, write.source) {
        case (.record(let name), .bytes(let bytes)): try keep(bytes, as: name)
        case (.tree(.timestamp), .bytes(let bytes)): try storage.exchange(bytes, for: state?.timestampBytes)
        default: .nothing
        }
    }

    private func missing(_ writes: [TreeWrite]) throws(ServerError) -> [TreeWrite] {
        var missing: [TreeWrite] = []
        for write in writes where try storage.status(of: write.file) == nil { missing.append(write) }
        return missing
    }

    /// If the disk is full, removes the compressed forms once and repeats the work: no release waits for them.
    private func freeingSpace(
        _ forms: inout [TreePath.File],
        _ work: (_ forms: [TreePath.File]) throws(ServerError) -> TreeChange
    ) throws(ServerError) -> TreeChange {
        do throws(ServerError) { return try work(forms) } catch {
            guard case .file(.noSpace) = error, !forms.isEmpty else { throw error }
            var made: [TreePath.File] = []
            for form in forms where try storage.status(of: form) != nil { made.append(form) }
            try storage.remove(made)
            _ = try storage.removeHalfWritten()
            if made.contains(where: \.isInPackIndex) { _ = try IndexPacks(in: repository).run() }
            forms = []
            return try work(forms)
        }
    }

    /// Writes a record of the server, readable by the server alone.
    private func keep(_ bytes: [UInt8], as name: String) throws(ServerError) -> TreeChange {
        let (tree, files) = (repository.tree, repository.files)
        do throws(FileError) {
            try files.makeDirectory(tree.records)
            if try files.status(of: tree.records.at(name)) != nil,
                (try? files.read(tree.records.at(name), limit: bytes.count)) == bytes
            {
                try files.syncDirectory(tree.records)
                return .nothing
            }
            try files.replace(name, in: tree.records, with: bytes)
        } catch { throw .file(error) }
        return TreeChange(files: 1, bytes: bytes.count)
    }
}

extension PublicationPlan.Write {
    /// The write of a tree file; nil for the timestamp, and for files outside the tree.
    var contents: TreeWrite? {
        guard case .tree(let file) = target, file != .timestamp else { return nil }
        return TreeWrite(file: file, source: source)
    }
}
