import Linux
import PatchCompression
import PatchCrypto
import PatchFormat
package import PatchStore
import PatchTrust
import ReleaseFolder
import SystemPackage

/// Compressed forms of a release that is about to be published, and packs that lead to it.
///
/// They are separate files, moved into the tree with the release.
package struct CompressedForms: Sendable {
    struct Form: Sendable {
        let file: TreePath.File
        let path: FilePath
        let digest: SHA256Digest
        let size: Int
    }

    package static let none = CompressedForms(made: [], folder: nil)

    let made: [Form]
    /// Whether more forms are made after the release is published.
    let awaitsOthers: Bool
    /// Packs that are discarded, because they save too few bytes for the space they use.
    package let leftOut: [DiscardedPack]
    /// The folder of the files; nil for none.
    private let folder: FilePath?

    init(made: [Form], leftOut: [DiscardedPack] = [], folder: FilePath?, awaitsOthers: Bool = false) {
        (self.made, self.leftOut, self.folder, self.awaitsOthers) = (made, leftOut, folder, awaitsOthers)
    }

    package var count: Int { made.count }
    /// The total size of the forms.
    package var bytes: Int { made.reduce(0) { $0 + $1.size } }

    /// Removes the files, once they are published or no longer wanted.
    package func discard(_ files: any FileOperations) {
        if let folder { try? files.removeTree(folder) }
    }
}

extension PublicationPlan {
    mutating func add(_ forms: CompressedForms) {
        for form in forms.made { write(.file(form.path, form.digest), to: .tree(form.file), in: .forms) }
    }
}

/// Writes a file made from others.
struct FormWriter: ~Copyable {
    private let path: FilePath
    private let writer: any FileWriter
    private var digester = Digester()

    init(_ path: FilePath, _ files: any FileOperations) throws(ServerError) {
        self.path = path
        do throws(FileError) { writer = try files.create(path, permissions: .sharedFile) } catch { throw .file(error) }
    }

    mutating func append(_ bytes: [UInt8]) throws(ServerError) {
        guard !bytes.isEmpty else { return }
        digester.update(bytes)
        do throws(FileError) { try writer.append(bytes) } catch { throw .file(error) }
    }

    consuming func finish(as file: TreePath.File) throws(ServerError) -> CompressedForms.Form {
        let (path, writer, found) = (path, writer, digester.finish())
        do throws(FileError) { try writer.close() } catch { throw .file(error) }
        return CompressedForms.Form(file: file, path: path, digest: found.sha256, size: found.size)
    }
}

/// The jobs of a plan, on several threads.
struct CompressionWork: Sendable {
    let folder: FilePath
    var threads = CompressionThreads.forms
    private let plan: CompressionPlan
    private let files: any FileOperations
    private let open: @Sendable (SHA256Digest) throws(ServerError) -> any FileReader

    init(
        _ plan: CompressionPlan,
        in folder: FilePath,
        _ files: any FileOperations,
        _ open: @escaping @Sendable (SHA256Digest) throws(ServerError) -> any FileReader
    ) {
        (self.plan, self.folder, self.files, self.open) = (plan, folder, files, open)
    }

    /// Makes all forms; throws the first error.
    func run(_ progress: @escaping Progress) async throws(ServerError) -> [CompressedForms.Form] {
        try await ParallelWork(plan.jobs, on: threads) { (job, number) throws(ServerError) in try make(job, number) }
            .run(progress)
    }

    /// Makes one form, or returns nil if the file does not shrink.
    private func make(_ job: CompressionPlan.Job, _ number: Int) throws(ServerError) -> CompressedForms.Form? {
        let path = folder.at("\(number)")
        guard try mayShrink(job.item), let form = try write(job, to: path) else {
            do throws(FileError) { try files.removeIfPresent(path) } catch { throw .file(error) }
            return nil
        }
        return form
    }

    /// Judges by the first bytes: most files that do not shrink are images or fonts, which shows at once.
    private func mayShrink(_ item: CompressionPlan.Item) throws(ServerError) -> Bool {
        // The beginning of one file proves nothing about the others of a pack.
        guard item.sources.count == 1 else { return true }
        var beginning: [UInt8] = []
        try read(item) { (bytes) throws(ServerError) in
            beginning += bytes.prefix(Self.sample - beginning.count)
            return beginning.count < Self.sample
        }
        let form = (try? CompressionFormat.zstandard.compressed(beginning, effort: .quick)) ?? beginning
        return CompressionFormat.pays(form.count, for: beginning.count)
    }

    private static let sample = 131_072

    /// Writes one form, or returns nil if it saves too little.
    ///
    /// Data that the codec rejects has no form either. An object that changed on its way in is found when the form is stored.
    private func write(_ job: CompressionPlan.Job, to path: FilePath) throws(ServerError) -> CompressedForms.Form? {
        guard let compressor = try? Compressor(job.format, size: job.item.size, effort: plan.effort) else { return nil }
        var form = try FormWriter(path, files)
        var isBroken = false
        try read(job.item) { (bytes) throws(ServerError) in
            guard let piece = try? compressor.compress(bytes) else {
                isBroken = true
                return false
            }
            try form.append(piece)
            return true
        }
        guard !isBroken, let end = try? compressor.finish() else { return nil }
        try form.append(end)
        let made = try form.finish(as: job.form)
        return CompressionFormat.pays(made.size, for: job.item.size) ? made : nil
    }

    /// Passes the bytes of all sources in order, until `take` returns false.
    private func read(
        _ item: CompressionPlan.Item,
        _ take: (_ bytes: [UInt8]) throws(ServerError) -> Bool
    ) throws(ServerError) {
        for source in item.sources {
            switch source {
            case .bytes(let bytes):
                guard try take(bytes) else { return }
            case .object(let digest):
                let reader = try open(digest)
                while let bytes = try next(of: reader) { guard try take(bytes) else { return } }
            }
        }
    }

    private func next(of reader: any FileReader) throws(ServerError) -> [UInt8]? {
        do throws(FileError) { return try reader.next() } catch { throw .file(error) }
    }
}
