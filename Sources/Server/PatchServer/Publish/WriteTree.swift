import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// Brings a tree to its next state, step by step; leaves correct files alone.
///
/// Afterwards: every file of the plan is durable. When it throws, the steps up to some point are, and readers see the old
/// state; writing the same or another plan continues from there.
package struct WriteTree: Sendable {
    private let plan: PublicationPlan
    private let repository: AppRepository
    private let state: PublishedState?
    private let storage: any TreeStorage

    /// - Parameter state: what the plan was made from; nil for a tree that begins, or whose timestamp stays.
    init(_ plan: PublicationPlan, in repository: AppRepository, over state: PublishedState?) {
        (self.plan, self.repository, self.state) = (plan, repository, state)
        storage = repository.storage
    }

    /// Puts files into a tree beside what is published; those that exist stay.
    package init(adding made: CompressedForms, in repository: AppRepository) {
        var plan = PublicationPlan()
        plan.add(made)
        self.init(plan, in: repository, over: nil)
    }

    /// - Throws: `movedOn` when another has published meanwhile.
    @discardableResult
    package func run() throws(ServerError) -> TreeChange {
        _ = try storage.removeHalfWritten()
        let total = plan.steps.reduce(0) { $0 + $1.writes.count }
        let progress = repository.progress(.writing, total)
        var (change, done) = (TreeChange(), 0)
        var forms = (plan.writes[.forms] ?? []).compactMap(\.contents?.file)
        for (step, writes) in plan.steps {
            change += try makingRoom(&forms) { (forms) throws(ServerError) in
                if step == .indexes { return try IndexPacks(in: repository, to: plan.packed).run() }
                // Those that there was no room for.
                guard step != .forms || !forms.isEmpty else { return .nothing }
                let contents = writes.compactMap(\.contents)
                // A form that stands was made meanwhile, and may be in somebody's hands in part.
                let wanted = step == .forms ? try missing(contents) : contents
                return try storage.put(wanted) { progress(min(done + $0, total - 1)) }
            }
            for write in writes {
                change += try makingRoom(&forms) { (_) throws(ServerError) in try finish(write) }
            }
            done += writes.count
            progress(done)
        }
        _ = try storage.removeHalfWritten()
        return change
    }

    /// What is no file of the tree but the timestamp.
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

    /// On a full disk the compressed forms go, once, and the work is done again: no release waits for them.
    private func makingRoom(
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

    /// A record of the server's own, readable by the server alone.
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
    /// Nil for the timestamp, and for what is no part of the tree.
    var contents: TreeWrite? {
        guard case .tree(let file) = target, file != .timestamp else { return nil }
        return TreeWrite(file: file, source: source)
    }
}
