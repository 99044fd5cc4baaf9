import PatchFormat
import PatchStore
import SystemPackage

/// The secrets in the archives of a bundle.
struct BundleArchives: Sendable {
    /// An archive that was not searched completely.
    struct Gap: Equatable, Sendable {
        let path: AssetPath
        let reason: ArchiveGap
    }

    /// The maximum number of unpacked bytes of all archives of a bundle.
    private static let contents = 4 << 30

    /// Archives that contain a secret.
    private(set) var found: [AssetPath] = []
    private(set) var secrets: [BundleProblem] = []
    private(set) var gaps: [Gap] = []
    /// The indexes of the `allow-secrets` patterns that matched an archive.
    private(set) var usedAllowances: Set<Int> = []

    /// Searches one archive at a time, because a zip archive is read into memory.
    init(
        _ files: [(path: AssetPath, file: FilePath, look: FileInspection)],
        _ selection: BundleSelection,
        _ disk: any FileOperations
    ) throws(SigningError) {
        let archives = files.compactMap { path, file, look in
            ArchiveFormat.of(look.findings.head, named: path).map { (path: path, file: file, format: $0) }
        }
        guard !archives.isEmpty else { return }
        let paths = Set(files.map(\.path))
        var left = Self.contents
        for (path, file, format) in archives {
            // A compressed twin is compared with its plain file, which was searched already.
            if let plain = CompressedTwin(path, file)?.plain, paths.contains(plain) { continue }
            var bounds = ArchiveSearch.Bounds()
            bounds.contents = min(bounds.contents, left)
            var search = ArchiveSearch(bounds)
            do throws(FileError) { try search.search(file, format, of: disk) } catch { throw .file(error) }
            left -= min(left, search.searched)
            guard !search.secrets.isEmpty || search.gap != nil else { continue }
            if let rule = selection.secretRule(for: path.text) {
                usedAllowances.insert(rule)
                if !search.secrets.isEmpty { found.append(path) }
                continue
            }
            if let reason = search.gap { gaps.append(Gap(path: path, reason: reason)) }
            guard !search.secrets.isEmpty else { continue }
            found.append(path)
            secrets += search.secrets.map { .archived(file, $0) }
        }
    }
}
