import PatchFormat
import PatchStore
import SystemPackage

/// The compressed files of a bundle, compared with their plain files.
struct CompressedTwins: Sendable {
    /// Compressed files that differ from their plain file or are not valid; a server would send other content than the plain file.
    let leftOut: Set<AssetPath>
    let notes: [BundleNote]

    init(
        _ files: [(path: AssetPath, file: FilePath, fingerprint: Fingerprint)],
        _ disk: any FileOperations
    ) async throws(SigningError) {
        let compressed = files.compactMap { CompressedTwin($0.path, $0.file) }
        guard !compressed.isEmpty else {
            (leftOut, notes) = ([], [])
            return
        }
        let fingerprints = Dictionary(files.map { ($0.path, $0.fingerprint) }) { first, _ in first }
        let judged = try await mapOnAllCores(compressed, chunk: 4) { (twin) throws(SigningError) in
            let plain = twin.plain.flatMap { path in fingerprints[path].map { (path: path, fingerprint: $0) } }
            return (twin.path, plain?.path, try twin.judgement(plain: plain?.fingerprint, of: disk))
        }
        let stale = judged.compactMap { path, plain, judgement in judgement == .stale ? plain.map { (path, $0) } : nil }
        let damaged = judged.compactMap { path, plain, judgement in
            judgement == .damaged && plain != nil ? path : nil
        }
        let alone = judged.compactMap { path, plain, judgement in judgement == .damaged && plain == nil ? path : nil }
        leftOut = Set(stale.map(\.0) + damaged)
        var notes: [BundleNote] = []
        if !stale.isEmpty { notes.append(.stale(stale.map(\.0), of: stale.map(\.1))) }
        if !damaged.isEmpty { notes.append(.notCompressed(damaged, isLeftOut: true)) }
        if !alone.isEmpty { notes.append(.notCompressed(alone, isLeftOut: false)) }
        self.notes = notes
    }
}
